import { expect, test } from 'vitest'

import type { AbsolutePath } from '../../src/policy/index.js'
import { closedFolders } from '../../src/sandbox/plan/landlock-layout.js'

const paths = (...names: readonly string[]) => names as unknown as readonly AbsolutePath[]
const roots = (...names: readonly string[]) => paths(...names).map((path) => ({ path, object: 'directory' as const }))

test('every folder from the write root down to a carve-out is closed', () => {
  expect(closedFolders(roots('/w'), paths('/w/a/b/.envrc', '/w/.git/config'))).toEqual([
    '/w',
    '/w/.git',
    '/w/a',
    '/w/a/b',
  ])
})

test('nothing is closed without a carve-out, by one elsewhere, or by one of the whole root', () => {
  expect(closedFolders(roots('/w'), [])).toEqual([])
  expect(closedFolders(roots('/w'), paths('/other/.envrc', '/wide/.envrc'))).toEqual([])
  expect(closedFolders(roots('/w/a'), paths('/w', '/w/a/b'))).toEqual([])
})
