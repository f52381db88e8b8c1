import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { isReadable, isWritable } from '../../../src/policy/index.js'
import { profileText } from '../../../src/sandbox/seatbelt/profile-text.js'
import { path } from '../../policy/places.js'
import { HOME, PORT, TEMPORARY, WORK, boundaryOnMac, planOf } from './plans.js'
import { evaluate } from './sbpl-evaluator.js'
import type { Attempt } from './sbpl-evaluator.js'

const allows = (...plan: Parameters<typeof planOf>) => evaluate(profileText(planOf(...plan)))

const reads = (at: string): Attempt => ({ operation: 'file-read-data', path: at })
const writes = (at: string): Attempt => ({ operation: 'file-write-data', path: at })
const makes = (at: string): Attempt => ({ operation: 'file-write-create', path: at, vnode: 'REGULAR-FILE' })
const makesFolder = (at: string): Attempt => ({ operation: 'file-write-create', path: at, vnode: 'DIRECTORY' })
const moves = (at: string, vnode: NonNullable<Attempt['vnode']> = 'DIRECTORY'): Attempt => ({
  operation: 'file-write-unlink',
  path: at,
  vnode,
})
const executes = (at: string): Attempt => ({ operation: 'process-exec', path: at })
const connects = (host: string, port: number, protocol: 'tcp' | 'udp' = 'tcp'): Attempt => ({
  operation: 'network-outbound',
  remote: { protocol, host, port },
})

/** Each line: a policy, what it refuses, and the twins that it allows. */
const check = (judge: (attempt: Attempt) => boolean, refused: readonly Attempt[], allowed: readonly Attempt[]) => {
  expect(refused.filter(judge)).toEqual([])
  expect(allowed.filter((attempt) => !judge(attempt))).toEqual([])
}

describe('files', () => {
  it('reads no file that was not granted, and reads the granted ones (attack 1)', () => {
    check(
      allows({ filesystem: { read: ['docs/**'] } }),
      [reads(`${HOME}/.ssh/id_ed25519`), reads(`${HOME}/.aws/credentials`), reads('/private/etc/master.passwd')],
      [reads(`${WORK}/docs/a.md`), reads('/usr/lib/libSystem.B.dylib')],
    )
  })

  it('shows no names and no metadata outside of the grants, except of the folders on the way (attack 1)', () => {
    const metadata = (at: string): Attempt => ({ operation: 'file-read-metadata', path: at })
    check(
      allows({ filesystem: { read: ['docs/**'] } }),
      [metadata(`${HOME}/.ssh`), metadata(`${WORK}/other`), reads(WORK), reads(HOME)],
      [metadata(WORK), metadata(HOME), metadata('/tmp'), reads(`${WORK}/docs`)],
    )
  })

  it('writes inside the write roots only, also where a name only begins like one (attacks 2 and 4)', () => {
    check(
      allows({ filesystem: { write: ['up/**'] } }),
      [writes(`${WORK}/uploads/x`), writes(`${WORK}/x`), makes('/private/tmp/x'), makes(`${HOME}/.zshrc`)],
      [writes(`${WORK}/up/x`), makes(`${WORK}/up/new`), makes(`${TEMPORARY}/x`)],
    )
  })

  it('does not write to what it may only read, nor change its modes and times (attack 6)', () => {
    const changes = (operation: string, at: string): Attempt => ({ operation, path: at })
    check(
      allows({ filesystem: { read: ['docs/**'], write: ['out/**'] } }),
      [
        writes(`${WORK}/docs/a`),
        ...['file-write-mode', 'file-write-times'].map((each) => changes(each, `${WORK}/docs/a`)),
        changes('file-write-setugid', `${WORK}/out/a`),
      ],
      ['file-write-mode', 'file-write-times'].map((each) => changes(each, `${WORK}/out/a`)),
    )
  })

  it('makes no hard link, which would be a second name of a carved-out file (attacks 5 and 46)', () => {
    check(
      allows({ filesystem: { write: ['.', '!secret/**'] } }),
      [{ operation: 'file-link', path: `${WORK}/secret/key` }, reads(`${WORK}/secret/key`)],
      [reads(`${WORK}/open/key`), makes(`${WORK}/open/new`)],
    )
  })

  it('holds a carve-out whose folder would be moved, removed or put in place later (attack 5)', () => {
    check(
      allows({ filesystem: { write: ['.', '!a/b/secret'] } }),
      [
        ...[moves(`${WORK}/a/b/secret`), moves(`${WORK}/a/b`), moves(`${WORK}/a`), moves(WORK)],
        ...[
          makesFolder(`${WORK}/a`),
          makesFolder(`${WORK}/A`),
          reads(`${WORK}/a/b/secret/x`),
          makes(`${WORK}/a/b/SECRET`),
        ],
      ],
      [moves(`${WORK}/c`), makesFolder(`${WORK}/c`), makes(`${WORK}/a/b/other`)],
    )
    check(
      allows({ filesystem: { write: ['.', '!**/secret'] } }),
      [moves(`${WORK}/x/y`), reads(`${WORK}/x/y/secret/z`), makes(`${WORK}/secret`)],
      [moves(`${WORK}/x/y`, 'REGULAR-FILE'), makesFolder(`${WORK}/x/y`)],
    )
  })

  it('takes exactly what a carve-out with a wildcard describes (attacks 9 and 10)', () => {
    check(
      allows({ filesystem: { read: ['.', '!*.key', '!logs/?.log'] } }),
      [reads(`${WORK}/a.key`), reads(`${WORK}/A.KEY`), reads(`${WORK}/logs/é.log`)],
      [reads(`${WORK}/sub/a.key`), reads(`${WORK}/a.keys`), reads(`${WORK}/logs/abcde.log`)],
    )
  })

  it('lets read restore what a carve-out of write took, and never the other way round', () => {
    check(
      allows({ filesystem: { read: ['data'], write: ['.', '!data/**'] } }),
      [writes(`${WORK}/data/x`)],
      [reads(`${WORK}/data/x`), writes(`${WORK}/x`)],
    )
    check(
      allows({ filesystem: { read: ['!data'], write: ['.'] } }),
      [writes(`${WORK}/data/x`), reads(`${WORK}/data/x`)],
      [writes(`${WORK}/x`)],
    )
  })
})

describe('protected names (attacks 2 and 7)', () => {
  const judge = allows({ filesystem: { write: ['.'] } })

  it('are read-only at every depth, whether they exist or not, and in any case', () => {
    const names = [
      '.git/hooks/pre-commit',
      '.git/config',
      '.vscode/tasks.json',
      'sub/.envrc',
      'package.json',
      '.mcp.json',
    ]
    const others = [
      '.GIT/Hooks/x',
      '.VSCODE/tasks.json',
      '.v\u017fcode/x',
      'Package.json',
      'a/node_modules/b/.vscode/x',
    ]
    check(
      judge,
      [...names, ...others].map((name) => makes(`${WORK}/${name}`)),
      [
        ...['.git/index', '.gitignore', 'lib/a.ts', 'sub/package.json'].map((name) => makes(`${WORK}/${name}`)),
        reads(`${WORK}/.git/hooks/pre-commit`),
      ],
    )
  })

  it('cannot be brought in with a folder, from the write root or from the private folder', () => {
    check(
      judge,
      [
        ...[makesFolder(`${WORK}/.git`), moves(`${WORK}/.git`), makes(`${WORK}/x/.git`), makes(`${WORK}/x/.vscode`)],
        moves(`${TEMPORARY}/x`),
      ],
      [makesFolder(`${TEMPORARY}/x/.vscode`), moves(`${TEMPORARY}/x`, 'REGULAR-FILE'), moves(`${WORK}/x`)],
    )
  })

  it('are writable where a grant spells them out, and protected again beneath', () => {
    check(
      allows({ filesystem: { write: ['.', '.git/hooks/**', 'package.json'] } }),
      [makes(`${WORK}/.git/config`), makes(`${WORK}/.git/hooks/.vscode/x`), makes(`${WORK}/x/.git/hooks/y`)],
      [makes(`${WORK}/.git/hooks/pre-commit`), writes(`${WORK}/package.json`)],
    )
  })
})

describe('programs and processes', () => {
  it('starts the listed programs only, and no copy of one (attack 28)', () => {
    check(
      allows({ filesystem: { read: ['.'], write: ['out'] } }),
      [executes('/bin/sh'), executes(`${WORK}/out/cat`), executes(`${TEMPORARY}/cat`), executes('/usr/bin/open')],
      [executes('/bin/cat')],
    )
  })

  it('with exec: all, starts only what it can read', () => {
    check(
      allows({ filesystem: { read: ['bin', '!bin/secret'] } }, { exec: 'all' }),
      [executes('/Users/bob/bin/tool'), executes(`${WORK}/bin/secret`)],
      [executes(`${WORK}/bin/tool`), executes(`${TEMPORARY}/built`)],
    )
  })

  it('loads code only from what it cannot write, unless any program may start', () => {
    const loads = (at: string): Attempt => ({ operation: 'file-map-executable', path: at })
    const policy = { filesystem: { read: ['lib'], write: ['out'] } }
    check(allows(policy), [loads(`${WORK}/out/x.dylib`)], [loads(`${WORK}/lib/x.dylib`)])
    check(allows(policy, { exec: 'all' }), [loads('/Users/bob/x.dylib')], [loads(`${WORK}/out/x.dylib`)])
  })

  it('signals itself and its children, nobody else (attack 25)', () => {
    const signals = (target: Attempt['target']): Attempt => ({ operation: 'signal', ...(target && { target }) })
    check(allows({}), [signals('others')], [signals('self'), signals('children')])
  })

  it('does not fork if one process is the limit', () => {
    check(allows({}, { mayFork: false }), [{ operation: 'process-fork' }], [])
    check(allows({}), [], [{ operation: 'process-fork' }])
  })

  it('reaches one service, reads no arguments of processes, and opens nothing by Launch Services (attacks 24 and 34)', () => {
    const service = (name: string): Attempt => ({ operation: 'mach-lookup', service: name })
    const sysctl = (name: string): Attempt => ({ operation: 'sysctl-read', sysctl: name })
    const others = 'SecurityServer coreservices.launchservicesd lsd.mapdb trustd.agent cfprefsd.daemon pasteboard.1'
    check(
      allows({}, { network: 'all' }),
      [
        ...others.split(' ').map((name) => service(`com.apple.${name}`)),
        ...[sysctl('kern.procargs2'), sysctl('kern.proc.all'), { operation: 'lsopen' }],
        ...[{ operation: 'ipc-posix-shm' }, { operation: 'appleevent-send' }],
      ],
      [service('com.apple.system.opendirectoryd.libinfo'), sysctl('hw.ncpu')],
    )
  })
})

describe('network', () => {
  const RESOLVER: Attempt = { operation: 'network-outbound', path: '/private/var/run/mDNSResponder' }
  const DOCKER: Attempt = { operation: 'network-outbound', path: '/private/var/run/docker.sock' }
  const LISTEN: Attempt = { operation: 'network-bind', local: { protocol: 'tcp', port: 8080 } }

  it('without a grant reaches nothing (attacks 11, 13 and 21)', () => {
    check(
      allows({ filesystem: { read: ['/private/var/run'] } }),
      [connects('1.1.1.1', 443), connects('127.0.0.1', PORT), connects('1.1.1.1', 53, 'udp'), RESOLVER, DOCKER, LISTEN],
      [],
    )
  })

  it('with granted hosts reaches one port of the loopback, by TCP (attacks 12 and 13)', () => {
    check(
      allows({}, { network: { port: PORT } }),
      [
        ...[connects('127.0.0.1', PORT + 1), connects('127.0.0.1', PORT, 'udp'), connects('10.0.0.1', PORT)],
        ...[connects('1.1.1.1', 443), RESOLVER, DOCKER, LISTEN],
      ],
      [connects('127.0.0.1', PORT), connects('::1', PORT)],
    )
  })

  it('with all of the network still reaches no socket of another service (attack 21)', () => {
    check(allows({}, { network: 'all' }), [DOCKER], [connects('1.1.1.1', 443), RESOLVER, LISTEN])
  })
})

describe('names that a profile cannot spell', () => {
  it('are escaped where they can be, and match themselves only', () => {
    const odd = `${WORK}/a"b\\c (allow default)`
    const plan = planOf({ filesystem: { read: ['docs'] } })
    const judge = evaluate(profileText({ ...plan, read: [{ path: path(odd), object: 'directory' }] }))
    check(judge, [reads(`${WORK}/a`), reads('/etc/x'), writes(odd)], [reads(`${odd}/x`)])
  })

  it.each(['\n', '\0', '\u0007', '\ud800'])('are refused with the character %j', (character) => {
    const plan = planOf({ filesystem: { read: ['docs'] } })
    const named = { path: `${WORK}/a${character}b` as typeof plan.cwd, object: 'directory' as const }
    expect(() => profileText({ ...plan, read: [named] })).toThrow(/cannot spell this name/)
  })
})

describe('any policy', () => {
  const name = fc.constantFrom('a', 'b', 'A', '.git', 'hooks', 'config', '.vscode', 'package.json', 'node_modules')
  const names = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
  const grant = fc.tuple(names, fc.constantFrom('', '/**')).map((parts) => parts.join(''))
  const taken = fc.tuple(names, fc.constantFrom('', '/**', '/*', '/**/a', '/?/b')).map((parts) => `!${parts.join('')}`)
  const section = fc
    .tuple(fc.array(grant, { maxLength: 2 }), fc.array(taken, { maxLength: 2 }))
    .map((both) => both.flat())

  it('writes nothing that the definition denies, and reads exactly what it grants', () => {
    fc.assert(
      fc.property(section, section, fc.array(names, { minLength: 8, maxLength: 8 }), (read, write, asked) => {
        const policy = { filesystem: { read, write }, presets: [] }
        const boundary = boundaryOnMac(policy)
        const judge = allows(policy)
        const bases = [...boundary.read, ...boundary.write].map(({ base }) => base)
        for (const each of asked) {
          const at = path(`${WORK}/${each}`)
          // `dir/**` also shows the folder itself, as a bind mount does.
          if (bases.includes(at)) continue
          if (judge(writes(at))) expect([each, isWritable(boundary, at)]).toEqual([each, true])
          // A carve-out takes both cases, because most volumes of macOS do not tell them apart.
          if (judge(reads(at))) expect([each, isReadable(boundary, at)]).toEqual([each, true])
          else if (!each.includes('a') && !each.includes('A'))
            expect([each, isReadable(boundary, at)]).toEqual([each, false])
        }
      }),
      { numRuns: 100 },
    )
  })
})
