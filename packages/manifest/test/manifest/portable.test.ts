import { describe, expect, test } from 'vitest'

import { KEY } from './manifests.js'
import { policyValue, portableGlob, portablePath, portablePolicy } from 'cordon/manifest'
import type { ProjectPlaces } from 'cordon/manifest'
import { parseAbsolutePath, parsePolicy } from 'cordon/policy'

const places = (project: string, workspace = project, home = '/home/ann'): ProjectPlaces => ({
  project: parseAbsolutePath(project),
  workspace: parseAbsolutePath(workspace),
  homes: [parseAbsolutePath(home)],
})

describe('a path', () => {
  test.each([
    ['/home/ann/shop/data', '/home/ann/shop', './data'],
    ['/home/ann/shop', '/home/ann/shop', '.'],
    ['/home/ann/shopping', '/home/ann/shop', '~/shopping'],
    ['/home/ann/shop/data', '/home/ann/shop/agents/a', '../../data'],
    ['/home/ann/shop', '/home/ann/shop/agents', '..'],
    ['/home/ann', '/home/ann/shop', '~'],
    ['/home/anna/x', '/home/ann/shop', '/home/anna/x'],
    ['/etc/hosts', '/home/ann/shop', '/etc/hosts'],
    ['data/**', '/home/ann/shop', 'data/**'],
  ])('%s is, from %s, %s', (path, workspace, written) => {
    expect(portablePath(path, places('/home/ann/shop', workspace))).toBe(written)
  })
})

test('a carve-out and a folder with a wildcard in its name are found too', () => {
  expect(portableGlob('!/srv/shop/.env', places('/srv/shop'))).toBe('!./.env')
  expect(portableGlob('/srv/\\[a\\]/data/*', places('/srv/[a]'))).toBe('./data/*')
})

const POLICY = (folder: string, home: string) =>
  parsePolicy(
    {
      filesystem: {
        read: [`${folder}/b/**`, `${folder}/a`, `${home}/notes`],
        write: [`!${folder}/a`, `${folder}/out`],
      },
      environment: ['LANG', `PATH=${folder}/bin:/usr/bin`],
      exec: [`${folder}/bin/tool`, 'git'],
      network: ['b.example.com', 'a.example.com'],
    },
    'policy',
  )

test('one policy in two folders has one value, and another policy has another', () => {
  const one = policyValue(portablePolicy(POLICY('/srv/shop', '/home/ann'), places('/srv/shop')), KEY)
  const two = policyValue(portablePolicy(POLICY('/x/y', '/root'), places('/x/y', '/x/y', '/root')), KEY)
  expect(two).toEqual(one)
  expect(one).toMatchObject({
    filesystem: { read: ['./a', './b/**', '~/notes'], write: ['!./a', './out'] },
    exec: ['./bin/tool', 'git'],
  })
  expect(policyValue(portablePolicy(POLICY('/srv/shop/sub', '/home/ann'), places('/srv/shop')), KEY)).not.toEqual(one)
})
