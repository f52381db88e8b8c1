import { rmSync } from 'node:fs'

import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area } from '../claim.js'

const TREE = {
  '@/data/a.txt': 'a',
  '@/data/sub/b.txt': 'b',
  '@/data/sub/deeper/c.txt': 'c',
  '@/database/x': 'x',
  '@/other': 'o',
}

export const grants: Area = area('Grants', [
  {
    claim: 'by default only programs, libraries and settings of the system are granted',
    given: TREE,
    can: [
      ['read', '/etc/passwd'],
      ['execute', '/bin/true'],
    ],
    cannot: [
      ['read', '@/other'],
      ['read', '@/data/a.txt'],
      ['list', '@/data'],
      ['create', '@/new'],
      ['read', '/etc/shadow'],
      ['create', '/etc/new'],
      ['create', '/usr/new'],
      ['create', '/new'],
    ],
  },
  {
    claim: 'read of a file grants only that file',
    given: TREE,
    policy: { filesystem: { read: ['@/data/a.txt'] } },
    can: [['read', '@/data/a.txt']],
    cannot: [
      ['write', '@/data/a.txt'],
      ['remove', '@/data/a.txt'],
      ['rename', '@/data/a.txt'],
      ['read', '@/data/sub/b.txt'],
      ['read', '@/other'],
      ['create', '@/data/new'],
    ],
  },
  {
    claim: 'read of a folder grants everything beneath it',
    given: TREE,
    policy: { filesystem: { read: ['@/data'] } },
    can: [
      ['list', '@/data'],
      ['read', '@/data/a.txt'],
      ['read', '@/data/sub/deeper/c.txt'],
    ],
    cannot: [
      ['write', '@/data/a.txt'],
      ['create', '@/data/new'],
      ['mkdir', '@/data/new'],
      ['remove', '@/data/sub/b.txt'],
      ['rename', '@/data/sub'],
      ['read', '@/other'],
    ],
  },
  {
    claim: 'read of folder/** grants everything beneath it',
    given: TREE,
    policy: { filesystem: { read: ['@/data/**'] } },
    can: [
      ['read', '@/data/a.txt'],
      ['read', '@/data/sub/deeper/c.txt'],
    ],
    cannot: [
      ['create', '@/data/new'],
      ['read', '@/other'],
    ],
  },
  {
    claim: 'a folder whose name only starts like a granted one is not granted',
    given: TREE,
    policy: { filesystem: { read: ['@/data'], write: ['@/data/sub'] } },
    can: [['read', '@/data/a.txt']],
    cannot: [
      ['read', '@/database/x'],
      ['list', '@/database'],
      ['write', '@/database/x'],
    ],
  },
  {
    claim: 'write of a folder grants everything beneath it, and implies read',
    given: TREE,
    policy: { filesystem: { write: ['@/data'] } },
    can: [
      ['read', '@/data/a.txt'],
      ['write', '@/data/a.txt'],
      ['create', '@/data/new'],
      ['mkdir', '@/data/sub/made'],
      ['rename', '@/data/sub/b.txt'],
      ['remove', '@/data/sub/deeper/c.txt'],
    ],
    cannot: [
      ['read', '@/other'],
      ['create', '@/new'],
      ['write', '@/database/x'],
      ['rename', '@/data'],
    ],
  },
  {
    claim: 'write of a file grants only that file',
    given: TREE,
    policy: { filesystem: { write: ['@/data/a.txt'] } },
    can: [
      ['read', '@/data/a.txt'],
      ['write', '@/data/a.txt'],
    ],
    cannot: [
      ['remove', '@/data/a.txt'],
      ['rename', '@/data/a.txt'],
      ['create', '@/data/new'],
      ['read', '@/data/sub/b.txt'],
    ],
  },
  {
    claim: 'a write grant inside a read grant applies only there',
    given: TREE,
    policy: { filesystem: { read: ['@/data'], write: ['@/data/sub'] } },
    can: [
      ['read', '@/data/a.txt'],
      ['write', '@/data/sub/b.txt'],
      ['create', '@/data/sub/deeper/new'],
    ],
    cannot: [
      ['write', '@/data/a.txt'],
      ['create', '@/data/new'],
      ['rename', '@/data/sub'],
    ],
  },
  {
    claim: 'a read grant inside a write grant removes nothing',
    given: TREE,
    policy: { filesystem: { read: ['@/data/sub'], write: ['@/data'] } },
    can: [
      ['write', '@/data/sub/b.txt'],
      ['create', '@/data/sub/new'],
    ],
    cannot: [['read', '@/other']],
  },
  {
    claim: 'doubled slashes, dots and relative paths are normalised',
    given: TREE,
    policy: { filesystem: { read: ['@//data/./sub/../sub', 'database'] } },
    can: [
      ['read', '@/data/sub/b.txt'],
      ['read', '@/database/x'],
    ],
    cannot: [
      ['read', '@/data/a.txt'],
      ['read', '@/other'],
    ],
  },
  {
    claim: '~ is the home of the resolved policy',
    given: { '@/home/notes': 'n' },
    policy: { filesystem: { read: ['~/notes'] } },
    can: [['read', '@/home/notes']],
    cannot: [['list', '/root']],
  },
  {
    claim: 'the preset workspace grants the project',
    given: TREE,
    policy: { presets: ['workspace'] },
    can: [
      ['write', '@/other'],
      ['create', '@/new'],
    ],
    cannot: [
      ['create', '/var/tmp/new'],
      ['list', '/root'],
    ],
  },
  {
    claim: 'a missing path is refused',
    policy: { filesystem: { read: ['@/missing'] } },
    run: ['/bin/true'],
    then: { refused: 'path-missing' },
  },
  {
    claim: 'a missing path to write is refused, and not created',
    policy: { filesystem: { write: ['@/missing/**'] } },
    run: ['/bin/true'],
    then: { refused: 'path-missing' },
    leaves: { '@/missing': null },
  },
  {
    claim: 'a path beneath a file is refused',
    given: { '@/file': '' },
    policy: { filesystem: { read: ['@/file/below'] } },
    run: ['/bin/true'],
    then: { refused: 'path-missing' },
  },
  {
    claim: 'a path beyond the longest possible length is refused',
    policy: { filesystem: { read: [`@/${'x'.repeat(300)}`] } },
    run: ['/bin/true'],
    then: { refused: 'path-missing' },
  },
  ...(['/', '/proc', '/proc/1', '/dev', '/sys'] as const).map((path) => ({
    claim: `writing ${path} cannot be granted`,
    policy: { filesystem: { write: [path] } },
    run: ['/bin/true'],
    then: { refused: 'grant-inexpressible' },
  })),
  {
    claim: 'a path that vanished between two calls is refused like a missing one',
    given: { '@/data/f': 'x' },
    tell: async ({ backend, boundary, at, run }) => {
      const request = {
        boundary: boundary({ filesystem: { read: ['@/data'] } }),
        cwd: '/',
        argv: ['/bin/cat', at('@/data/f')],
      }
      expect(await backend.run(request)).toMatchObject({ exitCode: 0 })
      await run(['/bin/rm', '-r', at('@/data/f')], { policy: { filesystem: { write: ['@/data'] } } })
      expect(await backend.run(request)).toMatchObject({ exitCode: 1 })
      rmSync(at('@/data'), { recursive: true })
      await expect(backend.run(request)).rejects.toMatchObject({ code: 'path-missing' })
    },
  },
  {
    claim: 'a new file in a granted folder is granted to the next call',
    given: { '@/data/': '' },
    tell: async ({ run, give }) => {
      give({ '@/data/later/f': 'x' })
      expect(await run('cat @/data/later/f', { policy: { filesystem: { read: ['@/data'] } } })).toMatchObject({
        exitCode: 0,
      })
    },
  },
])
