import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { PROTECTED_NAMES, compileAccess, isReadable, isWritable } from '../../src/policy/index.js'
import type { Boundary } from '../../src/policy/index.js'

import { filesystem, somePath } from './arbitrary-policy.js'
import { boundaryOf, path } from './places.js'

const plainAccess = (boundary: Boundary, text: string) => ({ readable: isReadable(boundary, path(text)), writable: isWritable(boundary, path(text)) })

describe('a compiled boundary', () => {
  it('says of every path what the definition says', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(filesystem, fc.array(somePath, { minLength: 5, maxLength: 20 }), (files, paths) => {
        const boundary = boundaryOf({ filesystem: files })
        const compiled = compileAccess(boundary)
        for (const text of paths) {
          const expected = plainAccess(boundary, text)
          seen.add(JSON.stringify(expected))
          expect([text, compiled(path(text))]).toEqual([text, expected])
        }
      }),
      { numRuns: 1500 },
    )
    expect(seen.size).toBe(3)
  })

  it('knows every protected name, at the root of a grant, deeper, and among dependencies', () => {
    const boundary = boundaryOf({ filesystem: { write: ['/w', '/x/**/*', '/y/*/sub/**'] } })
    const compiled = compileAccess(boundary)
    for (const { name } of PROTECTED_NAMES) {
      for (const folder of ['/w', '/w/deep/er', '/w/node_modules/p', '/x', '/x/a', '/y/a/sub', '/y/a/sub/b']) {
        for (const text of [`${folder}/${name}`, `${folder}/${name}/inside`, `${folder}/not${name}`]) {
          expect([text, compiled(path(text))]).toEqual([text, plainAccess(boundary, text)])
        }
      }
    }
  })

  it('keeps its answer when it has thousands of patterns', () => {
    const numbers = Array.from({ length: 1000 }, (_, at) => at)
    const read = numbers.flatMap((at) => [`/data/set${at}/*.csv`, `/data/*-${at}.json`, `/data/*x${at}y*`, `!/data/set${at}/key*`])
    const boundary = boundaryOf({ filesystem: { read, write: numbers.map((at) => `/out/${at}/**`) } })
    const compiled = compileAccess(boundary)
    for (const text of ['/data/set7/a.csv', '/data/set7/key.csv', '/data/b-999.json', '/data/ax5y', '/data/ax5', '/out/5/a', '/out/5/.vscode/x', '/out/5/package.json', '/out/x']) {
      expect([text, compiled(path(text))]).toEqual([text, plainAccess(boundary, text)])
    }
  })
})

describe('the table of protected names, which the compiled form relies on', () => {
  it('has no name that ends in another, and none of several parts that holds for roots only', () => {
    const names = PROTECTED_NAMES.filter(({ object }) => object === 'any').map(({ name }) => name)
    expect(names.filter((name) => names.some((other) => other !== name && other.endsWith(`/${name}`)))).toEqual([])
    expect(PROTECTED_NAMES.filter(({ name, scope }) => scope === 'root' && name.includes('/'))).toEqual([])
  })
})
