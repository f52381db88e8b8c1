import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { PROTECTED_NAMES, isReadable, isWithin, isWritable } from '../../src/policy/index.js'
import type { Boundary, Witness } from '../../src/policy/index.js'

import { filesystem, glob, grantGlob, somePath } from './arbitrary-policy.js'
import { boundaryOf, path } from './places.js'

const witnessOf = (a: Boundary, b: Boundary): Witness | undefined => {
  const result = isWithin(a, b)
  return result.within ? undefined : result.witness
}

const files = (read: readonly string[] = [], write: readonly string[] = []) =>
  boundaryOf({ filesystem: { read, write } })

describe('reading', () => {
  it.each([
    [['/a/b/**'], ['/a/**'], undefined],
    [['/a/**'], ['/a/b/**'], '/a/b'],
    [['/a/**'], ['/a/b'], '/a/x'],
    [['/a'], ['/a/**'], '/a'],
    [['/a/**'], ['/a'], undefined],
    [['/a/*'], ['/a/**'], undefined],
    [['/a/**'], ['/a/*'], '/a/x/x'],
    [['/a/*.txt'], ['/a/*'], undefined],
    [['/a/*'], ['/a/*.txt'], '/a/x'],
    [['/a/?'], ['/a/*'], undefined],
    [['/a/*'], ['/a/?'], '/a/xx'],
    [['/a/*'], ['/a/?', '/a/??*'], undefined],
    [['/a/*'], ['/a/a*', '/a/b*'], '/a/x'],
    [['/a/a*b'], ['/a/a*', '/c'], undefined],
    [['/a/*a*', '/a/*b*'], ['/a/*'], undefined],
    [['/a/**/b'], ['/a/**'], undefined],
    [['/a/**/b'], ['/a/b', '/a/*/**/b'], undefined],
    [['/a/**/b/**'], ['/a/**/b'], '/a/b/x'],
    [['/a/{b,c}/d'], ['/a/b', '/a/c'], undefined],
    [['/a/{b,c}/d'], ['/a/b'], '/a/c/d'],
    [['/a/**', '!/a/b'], ['/a/**', '!/a/b/**'], undefined],
    [['/a/**', '!/a/b/**'], ['/a/**', '!/a/b'], '/a/b'],
    [['/a/**', '!/a/*b'], ['/a/**', '!/a/ab'], undefined],
    [['/a/**', '!/a/ab'], ['/a/**', '!/a/*b'], '/a/b'],
    [['/a/**', '!/a/**/*.key'], ['/a/**', '!/a/**/*.{key,pem}'], '/a/.pem'],
    [['/a/.?*'], ['/a/.*'], undefined],
    [['/a/*', '!/a/??*'], ['/a/?'], undefined],
    [['/usr/local'], [], undefined],
    [['/etc/shadow'], [], '/etc/shadow'],
    [['/'], ['/**'], '/'],
    [['.'], ['~/**'], undefined],
    [['../**'], ['~/**'], undefined],
    [['~/x'], ['.'], '/home/ann/x'],
  ])('%j within %j: beyond it is %s', (a, b, expected) => {
    expect(witnessOf(files(a), files(b))).toEqual(
      expected === undefined ? undefined : { kind: 'file', access: 'read', path: expected },
    )
  })

  it('is implied by writing, unless carved out', () => {
    expect(witnessOf(files(['/w/x']), files([], ['/w']))).toBeUndefined()
    expect(witnessOf(files(['/w/x']), files([], ['/w', '!/w/x']))).toEqual({
      kind: 'file',
      access: 'read',
      path: '/w/x',
    })
    expect(witnessOf(files(['/w/.git/hooks']), files([], ['/w']))).toBeUndefined()
  })
})

describe('writing', () => {
  it.each([
    [['/w/a/**'], ['/w'], undefined],
    [['/w'], ['/w/a/**'], '/w'],
    [['/w/**', '!/w/x'], ['/w/**', '!/w/x'], undefined],
    [['/w', '/w/.git/hooks'], ['/w'], '/w/.git/hooks'],
    [['/w/sub/.vscode'], ['/w'], '/w/sub/.vscode'],
    [['/w/node_modules/p/.vscode'], ['/w'], undefined],
    [['/w'], ['/w', '/w/.git/hooks'], undefined],
    [['/w/sub'], ['/w'], undefined],
    [['/w'], ['/w', '/w/sub'], undefined],
    [['/w/sub/package.json'], ['/w'], undefined],
    [['/w/package.json'], ['/w'], '/w/package.json'],
    [['/w/*'], ['/w/*.*', '/w/*'], undefined],
    [['/w/**/x'], ['/w/*/**', '/w/x'], undefined],
    [['/w/**/*.json'], ['/w/a/**'], '/w/x.json'],
  ])('%j within %j: beyond it is %s', (a, b, expected) => {
    const result = witnessOf(files([], a), files([], b))
    if (expected === undefined) expect(result).toBeUndefined()
    else if (expected === '/w/x.json')
      expect(result).toMatchObject({ kind: 'file', path: expect.stringMatching(/^\/w\/.*\.json$/) as string })
    else expect(result).toMatchObject({ kind: 'file', path: expected })
  })

  it('goes beyond a grant that starts at a protected name', () => {
    const witness = witnessOf(files([], ['/w/a*/*.json']), files([], ['/w/a/**', '/w/a?*/**']))
    expect(witness).toMatchObject({
      kind: 'file',
      access: 'write',
      path: expect.stringMatching(/^\/w\/a\/[a-z.]+\.json$/) as string,
    })
  })

  it('is not within reading', () => {
    expect(witnessOf(files([], ['/w']), files(['/w']))).toEqual({ kind: 'file', access: 'write', path: '/w' })
  })

  it('of a carved-out part has that part as witness', () => {
    expect(witnessOf(files(['/w'], ['/w']), files(['/w'], ['/w', '!/w/**/log']))).toEqual({
      kind: 'file',
      access: 'write',
      path: '/w/log',
    })
  })
})

const isGranted = (boundary: Boundary, access: 'read' | 'write', text: string) =>
  (access === 'read' ? isReadable : isWritable)(boundary, path(text))

const anyFiles = filesystem.map((value) => boundaryOf({ filesystem: value }))

/** Paths that tell similar patterns apart: sampled ones, and neighbours of them. */
const samples = fc.array(somePath, { minLength: 20, maxLength: 40 })

describe('for any two boundaries', () => {
  it('a witness is granted by one and not by the other, and without a witness no path is', () => {
    const answers = { within: 0, beyond: 0 }
    fc.assert(
      fc.property(anyFiles, anyFiles, samples, (a, b, paths) => {
        const witness = witnessOf(a, b)
        if (witness === undefined) {
          answers.within += 1
          for (const access of ['read', 'write'] as const) {
            expect(paths.filter((text) => isGranted(a, access, text) && !isGranted(b, access, text))).toEqual([])
          }
          return
        }
        answers.beyond += 1
        if (witness.kind !== 'file') throw new Error(`a witness of kind ${witness.kind}`)
        expect([
          witness.path,
          isGranted(a, witness.access, witness.path),
          isGranted(b, witness.access, witness.path),
        ]).toEqual([witness.path, true, false])
      }),
      { numRuns: 200 },
    )
    expect(Math.min(answers.within, answers.beyond)).toBeGreaterThan(20)
  })

  it('finds every path that one grants and the other does not', () => {
    fc.assert(
      fc.property(anyFiles, anyFiles, samples, (a, b, paths) => {
        fc.pre(
          paths.some((text) =>
            (['read', 'write'] as const).some((access) => isGranted(a, access, text) && !isGranted(b, access, text)),
          ),
        )
        expect(isWithin(a, b).within).toBe(false)
      }),
      { numRuns: 150 },
    )
  })

  it('a witness is as short as any sampled path that would do', () => {
    fc.assert(
      fc.property(anyFiles, anyFiles, samples, (a, b, paths) => {
        const witness = witnessOf(a, b)
        fc.pre(witness?.kind === 'file')
        const depth = (text: string) => text.split('/').filter((name) => name !== '').length
        const shorter = paths.filter(
          (text) =>
            isGranted(a, witness.access, text) &&
            !isGranted(b, witness.access, text) &&
            depth(text) < depth(witness.path),
        )
        expect(shorter).toEqual([])
      }),
      { numRuns: 150 },
    )
  })

  it('each boundary is within itself', () => {
    fc.assert(
      fc.property(filesystem, (value) => {
        expect(isWithin(boundaryOf({ filesystem: value }), boundaryOf({ filesystem: value }))).toEqual({ within: true })
      }),
      { numRuns: 100 },
    )
  })

  it('within is transitive', () => {
    let chains = 0
    // Of three that were drawn apart hardly two would be within each other: these grow.
    const growing = fc.tuple(
      fc.array(glob, { maxLength: 3 }),
      fc.array(glob, { maxLength: 2 }),
      fc.array(glob, { maxLength: 2 }),
    )
    fc.assert(
      fc.property(growing, growing, ([r1, r2, r3], [w1, w2, w3]) => {
        const [a, b, c] = [
          files(r1, w1),
          files([...r1, ...r2], [...w1, ...w2]),
          files([...r1, ...r2, ...r3], [...w1, ...w2, ...w3]),
        ]
        if (!isWithin(a, b).within || !isWithin(b, c).within) return
        chains += 1
        expect(isWithin(a, c)).toEqual({ within: true })
      }),
      { numRuns: 200 },
    )
    expect(chains).toBeGreaterThan(30)
  })
})

describe('adding entries', () => {
  const lists = fc.tuple(fc.array(glob, { maxLength: 3 }), fc.array(glob, { maxLength: 3 }))

  it('one more grant keeps the boundary within the new one', () => {
    fc.assert(
      fc.property(lists, grantGlob, ([read, write], extra) => {
        const before = files(read, write)
        expect(isWithin(before, files([...read, extra], write))).toEqual({ within: true })
        expect(isWithin(before, files(read, [...write, extra]))).toEqual({ within: true })
      }),
      { numRuns: 200 },
    )
  })

  it('one more carve-out keeps the new boundary within the old one', () => {
    fc.assert(
      fc.property(lists, grantGlob, ([read, write], extra) => {
        const before = files(read, write)
        expect(isWithin(files([...read, `!${extra}`], write), before)).toEqual({ within: true })
        expect(isWithin(files(read, [...write, `!${extra}`]), before)).toEqual({ within: true })
      }),
      { numRuns: 200 },
    )
  })
})

describe('patterns that are hard to compare', () => {
  const entangled = Array.from({ length: 40 }, (_, at) => `/a/*${String.fromCodePoint(97 + (at % 26))}${at}*`)

  it('are refused if an exact answer would take too long', () => {
    const result = isWithin(files(['/a/*z*z*', ...entangled]), files(entangled.map((text) => `${text}?*`)))
    expect(result.within).toBe(false)
  })

  it('are still within themselves, and within everything', () => {
    expect(isWithin(files(entangled, entangled), files(entangled, entangled))).toEqual({ within: true })
    expect(isWithin(files(entangled), files(['/a/**']))).toEqual({ within: true })
  })

  it('do not matter where the other boundary grants nothing', () => {
    expect(witnessOf(files(['/a/b']), files(entangled))).toEqual({ kind: 'file', access: 'read', path: '/a/b' })
    expect(isWithin(files(['/a/b0']), files(entangled))).toMatchObject({ within: false })
    expect(isWithin(files(['/a/xb1x/**', '/a/xb1x']), files([...entangled, '/a/*1x/**']))).toEqual({ within: true })
  })

  it('compares a thousand plain grants with a thousand others', () => {
    const numbers = Array.from({ length: 1000 }, (_, at) => at)
    const a = files(
      numbers.map((at) => `/data/${at}/in/**`),
      numbers.map((at) => `/data/${at}/out/*.txt`),
    )
    const b = files(
      numbers.map((at) => `/data/${at}/{in,x}/**`),
      numbers.map((at) => `/data/${at}/out/**`),
    )
    expect(isWithin(a, b)).toEqual({ within: true })
    expect(witnessOf(b, a)?.kind).toBe('file')
  })
})

describe('a protected name', () => {
  const granted = files([], ['/w', '/x/**/*', '/y/*/sub/**'])
  const folders = ['/w', '/w/deep/er', '/w/node_modules/p', '/x', '/x/a', '/y/a/sub', '/y/a/sub/b']
  const around = ({ name }: { readonly name: string }, folder: string) => [
    `${folder}/${name}`,
    `${folder}/${name}/inside`,
    `${folder}/not${name}`,
  ]

  it('is beyond a write grant at its root, deeper, and among dependencies, as defined', () => {
    const answers = new Set<boolean>()
    // Each comparison takes milliseconds, so every fourth name stands for its neighbours.
    for (const [at, each] of PROTECTED_NAMES.filter((_, index) => index % 4 === 0).entries()) {
      const text = around(each, folders[at % folders.length] ?? '')[0] ?? ''
      const isWithinIt = witnessOf(files([], [text]), granted) === undefined
      answers.add(isWithinIt)
      expect([text, isWithinIt]).toEqual([text, isWritable(granted, path(text))])
    }
    expect(answers.size).toBe(2)
  })

  it('is within a write grant where the definition says so, and so is a similar name', () => {
    const writable = folders
      .flatMap((folder) => PROTECTED_NAMES.flatMap((each) => around(each, folder)))
      .filter((text) => isWritable(granted, path(text)))
    expect(writable.length).toBeGreaterThan(PROTECTED_NAMES.length)
    expect(witnessOf(files([], writable), granted)).toBeUndefined()
  })

  it('is never the end of another name, and has one part if it counts only in roots, as the comparison assumes', () => {
    const names = PROTECTED_NAMES.filter(({ object }) => object === 'any').map(({ name }) => name)
    expect(names.filter((name) => names.some((other) => other !== name && other.endsWith(`/${name}`)))).toEqual([])
    expect(PROTECTED_NAMES.filter(({ name, scope }) => scope === 'root' && name.includes('/'))).toEqual([])
  })
})
