import { area } from '../claim.js'
import type { Area } from '../claim.js'

const TREE = {
  '@/data/a.txt': 'a',
  '@/data/b.txt': 'b',
  '@/data/c.md': 'c',
  '@/data/.d.txt': 'd',
  '@/data/sub/e.txt': 'e',
  '@/data/sub/key': 'k',
  '@/data/key': 'k',
  '@/data/one/two/key': 'k',
  '@/data/one/two/lock': 'l',
  '@/data/keys': 'k',
}

export const patterns: Area = area('Patterns', [
  {
    claim: '*.txt matches exactly the existing files of that folder, dot files too',
    given: TREE,
    policy: { filesystem: { read: ['@/data/*.txt'] } },
    can: [
      ['read', '@/data/a.txt'],
      ['read', '@/data/b.txt'],
      ['read', '@/data/.d.txt'],
    ],
    cannot: [
      ['read', '@/data/c.md'],
      ['read', '@/data/sub/e.txt'],
      ['write', '@/data/a.txt'],
      ['create', '@/data/new.txt'],
    ],
  },
  {
    claim: '**/name matches that name at every depth',
    given: TREE,
    policy: { filesystem: { read: ['@/data/**/key'] } },
    can: [
      ['read', '@/data/key'],
      ['read', '@/data/sub/key'],
      ['read', '@/data/one/two/key'],
    ],
    cannot: [
      ['read', '@/data/keys'],
      ['read', '@/data/one/two/lock'],
      ['read', '@/data/a.txt'],
    ],
  },
  {
    claim: 'braces are alternatives, also nested',
    given: TREE,
    policy: { filesystem: { read: ['@/data/{a.txt,sub/{e.txt,key}}'] } },
    can: [
      ['read', '@/data/a.txt'],
      ['read', '@/data/sub/e.txt'],
      ['read', '@/data/sub/key'],
    ],
    cannot: [
      ['read', '@/data/b.txt'],
      ['read', '@/data/key'],
    ],
  },
  {
    claim: 'an alternative without wildcards must exist',
    given: TREE,
    policy: { filesystem: { read: ['@/data/{a.txt,none}'] } },
    run: ['/bin/true'],
    then: { refused: 'path-missing' },
  },
  {
    claim: 'braces with wildcards are alternatives',
    given: TREE,
    policy: { filesystem: { read: ['@/data/{*.md,sub/*.txt}'] } },
    can: [
      ['read', '@/data/c.md'],
      ['read', '@/data/sub/e.txt'],
    ],
    cannot: [
      ['read', '@/data/a.txt'],
      ['read', '@/data/sub/key'],
    ],
  },
  {
    claim: 'a wildcard in the middle matches one folder, not any depth',
    given: TREE,
    policy: { filesystem: { read: ['@/data/*/key'] } },
    can: [['read', '@/data/sub/key']],
    cannot: [
      ['read', '@/data/key'],
      ['read', '@/data/one/two/key'],
      ['read', '@/data/sub/e.txt'],
    ],
  },
  {
    claim: '? matches one character',
    given: TREE,
    policy: { filesystem: { read: ['@/data/?.txt', '@/data/ke?s'] } },
    can: [
      ['read', '@/data/a.txt'],
      ['read', '@/data/keys'],
    ],
    cannot: [
      ['read', '@/data/.d.txt'],
      ['read', '@/data/key'],
    ],
  },
  {
    claim: 'a folder that a pattern matches is visible, but not its content',
    given: TREE,
    policy: { filesystem: { read: ['@/data/s*'] } },
    can: [['see', '@/data/sub']],
    cannot: [
      ['read', '@/data/sub/e.txt'],
      ['read', '@/data/a.txt'],
    ],
  },
  {
    claim: 'a pattern to write lets existing files be changed, but not removed or replaced',
    given: TREE,
    policy: { filesystem: { write: ['@/data/*.txt'] } },
    can: [
      ['write', '@/data/a.txt'],
      ['read', '@/data/b.txt'],
    ],
    cannot: [
      ['create', '@/data/new.txt'],
      ['remove', '@/data/b.txt'],
      ['rename', '@/data/b.txt'],
      ['write', '@/data/c.md'],
      ['read', '@/data/c.md'],
    ],
  },
  {
    claim: 'a pattern to read that matches nothing grants nothing',
    given: TREE,
    policy: { filesystem: { read: ['@/data/*.none'] } },
    can: [['read', '/etc/passwd']],
    cannot: [
      ['read', '@/data/a.txt'],
      ['list', '@/data'],
    ],
  },
  {
    claim: 'a pattern to write that matches nothing is refused',
    given: TREE,
    policy: { filesystem: { write: ['@/data/*.none'] } },
    run: ['/bin/true'],
    then: { refused: 'glob-matches-nothing' },
  },
  {
    claim: 'a pattern follows no links',
    given: {
      '@/data/in.txt': 'in',
      '@/out.txt': 'out',
      '@/data/link.txt': { link: '@/out.txt' },
      '@/elsewhere/key': 'k',
      '@/data/sub': { link: '@/elsewhere' },
    },
    policy: { filesystem: { read: ['@/data/*.txt', '@/data/**/key'] } },
    can: [['read', '@/data/in.txt']],
    cannot: [
      ['read', '@/data/link.txt'],
      ['read', '@/data/sub/key'],
      ['read', '@/elsewhere/key'],
    ],
  },
  {
    claim: 'pattern characters are literal after a backslash',
    given: { '@/data/*': 'star', '@/data/x': 'x', '@/data/[a]': 'brackets' },
    policy: { filesystem: { read: ['@/data/\\*', '@/data/\\[a\\]'] } },
    can: [
      ['read', '@/data/*'],
      ['read', '@/data/[a]'],
    ],
    cannot: [['read', '@/data/x']],
  },
])
