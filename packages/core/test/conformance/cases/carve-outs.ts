import { area } from '../claim.js'
import type { Area, Claim } from '../claim.js'

const TREE = {
  '@/w/conf/secret': 's',
  '@/w/conf/beside': 'b',
  '@/w/deep/er/secret': 's',
  '@/w/deep/er/beside': 'b',
  '@/w/top': 't',
}

const spellings: readonly (readonly [string, readonly string[]])[] = [
  ['by its path', ['!@/w/conf/secret']],
  ['as everything in its folder', ['!@/w/conf/**']],
  ['with its folder', ['!@/w/conf']],
  ['by a pattern', ['!@/w/**/secret']],
]

const unwritable = spellings.map(([how, carved]): Claim => ({
  claim: `a file carved out of a write root (${how}) can be neither changed nor moved nor read`,
  given: TREE,
  policy: { filesystem: { write: ['@/w', ...carved] } },
  can: [['write', '@/w/top']],
  cannot: [
    ...(['read', 'write', 'remove', 'rename', 'link'] as const).map((verb) => [verb, '@/w/conf/secret'] as const),
    ['rename', '@/w/conf'],
  ],
}))

export const carveOuts: Area = area('Carve-outs', [
  ...unwritable,
  {
    claim: 'a carve-out of a write root is readable if reading is granted',
    given: TREE,
    policy: { filesystem: { read: ['@/w'], write: ['@/w', '!@/w/conf/secret'] } },
    can: [
      ['read', '@/w/conf/secret'],
      ['write', '@/w/conf/beside'],
      ['write', '@/w/top'],
    ],
    cannot: [
      ['write', '@/w/conf/secret'],
      ['remove', '@/w/conf/secret'],
      ['rename', '@/w/conf'],
    ],
  },
  {
    claim: 'a carve-out of reading is absent, and the files beside it are not',
    given: TREE,
    policy: { filesystem: { read: ['@/w', '!@/w/**/secret'] } },
    can: [
      ['read', '@/w/conf/beside'],
      ['read', '@/w/deep/er/beside'],
      ['read', '@/w/top'],
    ],
    cannot: [
      ['read', '@/w/conf/secret'],
      ['read', '@/w/deep/er/secret'],
    ],
  },
  {
    claim: 'a carve-out of reading also removes writing',
    given: TREE,
    policy: { filesystem: { read: ['!@/w/conf/secret'], write: ['@/w'] } },
    can: [['write', '@/w/conf/beside']],
    cannot: [
      ['read', '@/w/conf/secret'],
      ['write', '@/w/conf/secret'],
      ['remove', '@/w/conf/secret'],
    ],
  },
  {
    claim: 'a carve-out wins over a grant that comes after it',
    given: TREE,
    policy: { filesystem: { read: ['!@/w/conf/secret', '@/w', '@/w/conf/secret'] } },
    can: [['read', '@/w/conf/beside']],
    cannot: [['read', '@/w/conf/secret']],
  },
  {
    claim: 'a carve-out of a whole folder hides everything in it',
    given: TREE,
    policy: { filesystem: { read: ['@/w', '!@/w/deep'] } },
    can: [['read', '@/w/conf/secret']],
    cannot: [
      ['list', '@/w/deep/er'],
      ['read', '@/w/deep/er/beside'],
      ['read', '@/w/deep/er/secret'],
    ],
  },
  {
    claim: 'a carve-out of everything in a folder hides everything in it',
    given: TREE,
    policy: { filesystem: { read: ['@/w', '!@/w/deep/**'] } },
    can: [['read', '@/w/conf/secret']],
    cannot: [
      ['list', '@/w/deep/er'],
      ['read', '@/w/deep/er/beside'],
      ['read', '@/w/deep/er/secret'],
    ],
  },
  {
    claim: 'a carve-out through a link applies to its target',
    given: { ...TREE, '@/link': { link: '@/w' }, '@/w/shortcut': { link: 'conf' } },
    policy: { filesystem: { read: ['@/w', '!@/link/conf/secret', '!@/w/shortcut/beside'] } },
    can: [['read', '@/w/deep/er/secret']],
    cannot: [
      ['read', '@/w/conf/secret'],
      ['read', '@/w/shortcut/secret'],
      ['read', '@/w/conf/beside'],
    ],
  },
  {
    claim: 'a carve-out applies to presets',
    policy: { filesystem: { read: ['!/etc/passwd', '!/usr/include/**', '!/usr/share/**/copyright'] } },
    can: [
      ['read', '/etc/group'],
      ['see', '/usr/share/doc'],
    ],
    cannot: [
      ['read', '/etc/passwd'],
      ['read', '/usr/include/stdio.h'],
      ['read', '/usr/share/doc/dash/copyright'],
    ],
  },
  {
    claim: 'a carve-out outside every grant changes nothing',
    given: TREE,
    policy: { filesystem: { write: ['@/w/conf', '!@/w/deep/er', '!@/nowhere'] } },
    can: [
      ['write', '@/w/conf/secret'],
      ['create', '@/w/conf/new'],
    ],
    cannot: [['read', '@/w/deep/er/secret']],
  },
  {
    claim: 'new files can be created beside a carve-out of a write root',
    given: TREE,
    policy: { filesystem: { write: ['@/w', '!@/w/conf/secret'] } },
    can: [
      ['create', '@/w/conf/new'],
      ['create', '@/w/new'],
      ['mkdir', '@/w/folder'],
      ['list', '@/w/conf'],
    ],
    cannot: [['read', '@/w/conf/secret']],
  },
  {
    claim: 'a call cannot leave a missing carve-out behind',
    given: { '@/w/conf/': '' },
    policy: { filesystem: { write: ['@/w', '!@/w/conf/secret'] } },
    run: 'echo new > @/w/conf/secret',
    then: { anyEnd: true, violations: [{ kind: 'protected', path: '@/w/conf/secret' }] },
    leaves: { '@/w/conf/secret': null },
  },
])
