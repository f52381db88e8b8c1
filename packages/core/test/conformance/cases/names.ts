import { mkdirSync, writeFileSync } from 'node:fs'

import { expect } from 'vitest'

import { escapeGlob } from '../../../src/policy/index.js'
import { area } from '../claim.js'
import type { Area, Claim } from '../claim.js'
import { textOf } from '../stage.js'

const NAMES = {
  'a space': 'a b',
  'a line break': 'a\nb',
  'a leading dash': '-rf',
  'quotes': '"\'`',
  'characters of patterns': '*?[a]{b,c}!~',
  'a backslash': 'a\\b',
  'a comma and a colon': 'a,b:c',
  'umlauts': 'äöü',
  'combining marks': 'a\u0308',
  'an emoji': '😀',
  'control characters': 'a\u0001\u001b[31m\u007f',
  'two dots in it': 'a..b',
  '255 bytes': 'x'.repeat(255),
}

const odd = Object.entries(NAMES).map(([kind, name]): Claim => {
  const [file, twin] = [`@/data/${name}`, `@/data/${name.slice(0, -1)}`]
  return {
    claim: `a file whose name has ${kind} is granted by exactly that name`,
    given: { [file]: 'x', '@/data/other': 'o', ...(twin === '@/data/' ? {} : { [`${twin}_`]: 'o' }) },
    policy: { filesystem: { read: [`@/data/${escapeGlob(name)}`] } },
    can: [['read', file]],
    cannot: [['read', '@/data/other'], ...(twin === '@/data/' ? [] : [['read', `${twin}_`] as const])],
  }
})

/** A name that is no UTF-8, which no policy text can spell. */
const nameless = (folder: string, rest: string): Buffer =>
  Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff]), Buffer.from(rest)])

export const names: Area = area('File names', [
  ...odd,
  {
    claim: 'names that look alike in Unicode are different names',
    given: { '@/data/\u00e4': 'composed', '@/data/a\u0308': 'decomposed' },
    policy: { filesystem: { read: ['@/data/\u00e4'] } },
    can: [['read', '@/data/\u00e4']],
    cannot: [['read', '@/data/a\u0308']],
  },
  {
    claim: 'upper and lower case are different names',
    given: { '@/data/File': 'F', '@/data/file': 'f' },
    policy: { filesystem: { write: ['@/data/file'] } },
    can: [['write', '@/data/file']],
    cannot: [['write', '@/data/File']],
  },
  {
    claim: 'a name that is not UTF-8 beside the files of a pattern does not matter',
    given: { '@/data/ok.txt': 'ok' },
    tell: async ({ run, at }) => {
      writeFileSync(nameless(at('@/data'), '.txt'), 'odd')
      const { stdout } = await run('cat @/data/ok.txt', { policy: { filesystem: { read: ['@/data/*.txt'] } } })
      expect(textOf(stdout)).toBe('ok')
    },
  },
  {
    claim: 'a name that is not UTF-8 in a granted folder is granted too',
    given: { '@/data/': '' },
    tell: async ({ run, at }) => {
      writeFileSync(nameless(at('@/data'), ''), 'odd')
      const { stdout } = await run('cat @/data/*', { policy: { filesystem: { read: ['@/data'] } } })
      expect(textOf(stdout)).toBe('odd')
    },
  },
  {
    claim: 'a protected name in a folder whose name is not UTF-8 stays protected, and the call runs',
    given: { '@/data/': '' },
    tell: async ({ run, at }) => {
      mkdirSync(nameless(at('@/data'), ''))
      mkdirSync(nameless(at('@/data'), '/.git/hooks'), { recursive: true })
      const { stdout } = await run(
        'cd @/data/?*; if echo evil > .git/hooks/pre-commit; then echo written; else echo refused; fi 2> /dev/null',
        { policy: { filesystem: { write: ['@/data'] } } },
      )
      expect(textOf(stdout)).toBe('refused\n')
    },
  },
])
