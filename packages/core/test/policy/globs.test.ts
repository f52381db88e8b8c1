import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { escapeGlob, literalPattern, matches, parsePathGlob } from '../../src/policy/index.js'

import { naiveCarvesOut, naiveMatches } from './naive-glob.js'
import { path, patterns } from './places.js'

const doesMatch = (glob: string, text: string) => patterns(glob).some((pattern) => matches(pattern, path(text)))

describe('a glob', () => {
  it.each([
    ['/data/**', '/data/a/b', true],
    ['/data/**', '/data/.hidden', true],
    ['/data/**', '/data', false],
    ['/data/**', '/database', false],
    ['/srv/up', '/srv/uploads', false],
    ['/srv/up', '/srv/up/a', true],
    ['/a/*.txt', '/a/b.txt', true],
    ['/a/*.txt', '/a/b/c.txt', false],
    ['/a/*.txt', '/a/b.txt/c', false],
    ['/a/**/b', '/a/b', true],
    ['/a/**/b', '/a/x/y/b', true],
    ['/a/**/b', '/a/x/y/b/c', false],
    ['/a/?', '/a/é', true],
    ['/a/?', '/a/😀', true],
    ['/a/?', '/a/ab', false],
    ['/a/*', '/A/b', false],
    ['/a/{b,c{d,e}}/*', '/a/ce/x', true],
    ['/a/{b,c{d,e}}/*', '/a/c/x', false],
    ['/a/x{,.bak}', '/a/x', true],
    ['/a/x{,.bak}', '/a/x.bak', true],
    ['/{a/b,c}/d', '/a/b/d', true],
    ['/a/\\*', '/a/*', true],
    ['/a/\\*', '/a/b', false],
    ['/a/\\[id\\]', '/a/[id]', true],
    ['//a/.//b/../c/', '/a/c/d', true],
    ['/**', '/', false],
    ['/', '/any/thing', true],
  ])('%s on %s: %s', (glob, text, expected) => {
    expect(doesMatch(glob, text)).toBe(expected)
  })

  it('is relative to the workspace, and ~ to the home', () => {
    expect(doesMatch('src/**', '/home/ann/project/src/a')).toBe(true)
    expect(doesMatch('../other', '/home/ann/other')).toBe(true)
    expect(doesMatch('~/x', '/home/ann/x')).toBe(true)
    expect(doesMatch('.', '/home/ann/project/x')).toBe(true)
    expect(doesMatch('{~/x,y}', '/home/ann/project/y')).toBe(true)
  })

  it('carves out everything beneath its matches', () => {
    expect(doesMatch('!/a/**/secret', '/a/b/secret/c')).toBe(true)
    expect(doesMatch('/a/**/secret', '/a/b/secret/c')).toBe(false)
  })

  it.each([
    ['literal', '/a/b', '/a/b', '/a/b'],
    ['literal', '/a/\\*', '/a/*', '/a/*'],
    ['subtree', '/a/**', '/a/**', '/a'],
    ['subtree', '/a/**/*', '/a/**', '/a'],
    ['subtree', '/a/**/**', '/a/**', '/a'],
    ['subtree', '/**', '/**', '/'],
    ['pattern', '/a/*/b', '/a/*/b', '/a'],
    ['pattern', '/a/b/*.txt', '/a/b/*.txt', '/a/b'],
    ['pattern', '/a/\\{b\\}/*', '/a/\\{b\\}/*', '/a/{b}'],
  ])('has the kind %s: %s', (kind, glob, text, base) => {
    expect(patterns(glob)).toMatchObject([{ kind, path: text, base, text: glob }])
  })

  it.each([
    '',
    '!',
    '!!/a',
    '/a/**b',
    '/a/***',
    '/a/[bc]',
    '/a/]',
    '/a/{b',
    '/a/b}',
    '/a/{b}',
    '/a/{}',
    '/a\0b',
    '/..',
    '/a/../..',
  ])('is refused if malformed: %j', (glob) => {
    expect(() => patterns(glob)).toThrow(expect.objectContaining({ code: 'glob-malformed' }))
  })

  it.each([
    '/a/*/../b',
    '/a/**/..',
    '~bob/x',
    '\\',
    '/a\\b',
    'C:\\x',
    'file:///etc/passwd',
    '{,a}',
    '../../../../x',
    `/${'{a,b}'.repeat(9)}`,
  ])('is refused if ambiguous: %j', (glob) => {
    expect(() => patterns(glob)).toThrow(expect.objectContaining({ code: 'glob-malformed' }))
  })

  it('is refused quickly if its groups nest without end', () => {
    expect(() => patterns(`/${'{a,'.repeat(1000)}b${'}'.repeat(1000)}`)).toThrow(
      expect.objectContaining({ code: 'glob-malformed' }),
    )
  })
})

const name = fc.stringMatching(/^[ab.]{1,3}$/).filter((text) => text !== '.' && text !== '..')
const pathText = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => `/${names.join('/')}`)
const simpleSegment = fc
  .oneof(name, fc.constant('**'), fc.constant('*'), fc.stringMatching(/^[ab.?]{1,2}\*?[ab?]?$/))
  .filter((text) => text !== '.' && text !== '..')
const group = fc.array(name, { minLength: 2, maxLength: 3 }).map((names) => `{${names.join(',')}}`)
const nestedGroup = fc.tuple(name, group).map(([first, second]) => `x{${first},${second}}`)
const globText = fc
  .array(fc.oneof({ weight: 5, arbitrary: simpleSegment }, group, nestedGroup), { minLength: 1, maxLength: 5 })
  .map((segments) => `/${segments.join('/')}`)
  // More groups than this multiply beyond the limit, which has its own test.
  .filter((glob) => glob.split('{').length <= 4)

describe('matching, compared with a naive implementation', () => {
  it('agrees on every grant', () => {
    fc.assert(
      fc.property(globText, pathText, (glob, text) => {
        expect(doesMatch(glob, text)).toBe(naiveMatches(glob, text))
      }),
      { numRuns: 20_000 },
    )
  })

  it('agrees on every carve-out', () => {
    fc.assert(
      fc.property(globText, pathText, (glob, text) => {
        expect(doesMatch(`!${glob}`, text)).toBe(naiveCarvesOut(glob, text))
      }),
      { numRuns: 10_000 },
    )
  })

  it('both yes and no are frequent enough to mean something', () => {
    const answers = fc
      .sample(fc.tuple(globText, pathText), { numRuns: 5000, seed: 1 })
      .map(([glob, text]) => naiveMatches(glob, text))
    expect(answers.filter(Boolean).length).toBeGreaterThan(200)
    expect(answers.filter((answer) => !answer).length).toBeGreaterThan(200)
  })
})

describe('any text', () => {
  it('is read, or refused as malformed', () => {
    const texts = fc.string({ unit: fc.constantFrom(...Array.from('ab/*?{},!~[]\\.\0 é')), maxLength: 20 })
    fc.assert(
      fc.property(texts, (text) => {
        try {
          for (const pattern of patterns(text)) {
            expect(pattern.path.startsWith('/')).toBe(true)
            expect(pattern.path.startsWith(pattern.kind === 'literal' ? pattern.base : '/')).toBe(true)
          }
        } catch (error) {
          expect(error).toMatchObject({ code: 'glob-malformed' })
        }
      }),
      { numRuns: 5000 },
    )
  })

  it('matches only itself when escaped', () => {
    const raw = fc.string({ unit: fc.constantFrom(...Array.from('ab*?{},!~[]\\')), minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(raw, raw, (one, other) => {
        const [alternative] = parsePathGlob(`/${escapeGlob(one)}`, 'test').alternatives
        expect(alternative?.segments).toEqual([{ kind: 'name', name: one }])
        expect(matches(literalPattern(path(`/${one}`)), path(`/${other}`))).toBe(one === other)
      }),
    )
  })

  it('has a normal form that reads as the same pattern', () => {
    fc.assert(
      fc.property(globText, (glob) => {
        for (const pattern of patterns(glob)) {
          const again = patterns(pattern.kind === 'literal' ? escapeGlob(pattern.path) : pattern.path)
          expect(again).toMatchObject([{ kind: pattern.kind, path: pattern.path, base: pattern.base }])
        }
      }),
    )
  })
})
