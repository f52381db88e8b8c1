import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { escapeGlob, matches, parseAbsolutePath } from '../../src/policy/index.js'
import type { AbsolutePath, PathPattern } from '../../src/policy/index.js'
import { expandPattern } from '../../src/sandbox/grants/expand-pattern.js'
import { patterns } from '../policy/places.js'

import { newFolder, plant } from './tree.js'

const only = (glob: string): PathPattern => {
  const [pattern, ...more] = patterns(glob)
  if (pattern === undefined || more.length > 0) throw new Error(`${glob} is not one pattern`)
  return pattern
}

const everythingIn = (folder: string): readonly AbsolutePath[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name) as AbsolutePath)

const expanded = (pattern: PathPattern): readonly string[] =>
  expandPattern(pattern)
    .map(({ path }) => path)
    .sort()

const name = fc.constantFrom('a', 'b', 'ab', '.a', 'a.txt', 'b.txt')
const tree = fc.array(fc.array(name, { minLength: 1, maxLength: 4 }), { maxLength: 12 })
const part = fc.constantFrom('a', 'b', 'ab', '*', '**', '?', 'a*', '*.txt', '.*', '*b')

describe('a pattern', () => {
  it('matches exactly the existing objects', () => {
    const folder = newFolder()
    let count = 0
    fc.assert(
      fc.property(tree, fc.array(part, { minLength: 1, maxLength: 4 }), (paths, parts) => {
        count += 1
        const root = `${folder}/${String(count)}`
        plant(root, [...paths.map((names) => `${names.join('/')}/`), 'a/'])
        const pattern = only(`${escapeGlob(root)}/${parts.join('/')}`)
        if (pattern.kind !== 'pattern') return
        expect(expanded(pattern)).toEqual(
          everythingIn(root)
            .filter((path) => matches(pattern, path))
            .sort(),
        )
      }),
      { numRuns: 150 },
    )
  })

  it('distinguishes files, folders and links, and follows no link', () => {
    const root = newFolder()
    plant(root, ['a/file', 'a/folder/', 'a/link -> /etc', 'b/file'])
    expect(
      expandPattern(only(`${root}/a/*`))
        .map(({ path, object }) => [path.slice(root.length), object])
        .sort(),
    ).toEqual([
      ['/a/file', 'file'],
      ['/a/folder', 'directory'],
      ['/a/link', 'link'],
    ])
    expect(expanded(only(`${root}/a/**/passwd`))).toEqual([])
  })

  it('finds nothing beneath a file, also for a carve-out', () => {
    const root = newFolder()
    plant(root, ['file', 'folder/.env'])
    const carveOut = { ...only(`${root}/**/.env`), negated: true }
    expect(expandPattern(carveOut, parseAbsolutePath(`${root}/file`))).toEqual([])
    expect(expandPattern(carveOut, parseAbsolutePath(`${root}/folder`))).toHaveLength(1)
  })

  it('for a carve-out stops at its match, which covers everything beneath', () => {
    const root = newFolder()
    plant(root, ['x/keys/x/keys/f', 'keys/f'])
    const pattern = only(`${root}/**/keys`)
    expect(expanded({ ...pattern, negated: true })).toEqual([`${root}/keys`, `${root}/x/keys`])
    expect(expanded(pattern)).toEqual([`${root}/keys`, `${root}/x/keys`, `${root}/x/keys/x/keys`])
  })

  it('with more matches than can be granted is refused, not cut', () => {
    const root = newFolder()
    plant(
      root,
      Array.from({ length: 2_001 }, (_, index) => `f${String(index)}`),
    )
    expect(() => expandPattern(only(`${root}/f*`))).toThrow(expect.objectContaining({ code: 'glob-too-many' }))
  })

  it('grants nothing in a folder that cannot be listed, but refuses to carve out of one', () => {
    const gone = only(`${newFolder()}/gone/*`)
    expect(expandPattern(gone)).toEqual([])
    expect(() => expandPattern({ ...gone, negated: true })).toThrow(
      expect.objectContaining({ code: 'grant-inexpressible' }),
    )
  })
})
