// An attack that cannot work proves nothing when it is refused. Here every program runs without a cell in its own
// folder, and each of its routes must succeed. The exceptions say why a route cannot work on this host or for this
// user.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'

import { IS_ROOT, programs } from './harness.js'
import { startHostIpc, startListeners, startVictim } from './host-services.js'
import { parseRoutes } from './outcomes.js'
import type { Route } from './outcomes.js'
import { playground } from './playground.js'
import { attackNames } from './programs.js'
import { catchAll, newMark, survivorsOf, untilRunning } from './survivors.js'

/** What a kernel says that was built without the thing. */
const ABSENT = /^(ENOSYS|EAFNOSUPPORT|EPROTONOSUPPORT|ESOCKTNOSUPPORT|ENODEV|ENXIO)\b/

const unconfined = (
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): readonly Route[] => {
  const [program, ...first] = programs.command(name)
  const { stdout, stderr, status } = spawnSync(program, [...first, ...args], {
    encoding: 'latin1',
    env: { ...process.env, ...env },
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return parseRoutes(stdout)
}

/** Routes that were refused although they should work here: none, but for the named ones. */
const expectEffective = (routes: readonly Route[], except: RegExp = /^$/): void => {
  expect(routes.length).toBeGreaterThan(0)
  const weak = routes.filter(
    ({ outcome, route, detail }) => outcome === 'refused' && !except.test(route) && !ABSENT.test(detail),
  )
  expect(weak).toEqual([])
}

/** What root can do is more than what a user can. */
const OPTIONS = IS_ROOT ? {} : IN_MATRIX

const tried = new Set<string>()
const claim = (name: string, body: (name: string) => void | Promise<void>): void => {
  tried.add(name)
  test(`${name} works without a cell (as ${IS_ROOT ? 'root' : 'an ordinary user'})`, OPTIONS, () => body(name))
}

// Process 1 of the host belongs to root, with powers that even a root process here may lack.
const OF_PROCESS_1 = /^(proc-1-.*|setns-of-1-.*)$/
const ROOT_ONLY = (pattern: RegExp): RegExp =>
  IS_ROOT ? OF_PROCESS_1 : new RegExp(`${pattern.source}|${OF_PROCESS_1.source}`)

for (const name of ['read-path', 'read-path.py', 'read-path.mjs', 'read-path.sh']) {
  claim(name, () => {
    const { file, inside } = playground()
    expectEffective(
      unconfined(name, [file('home/key'), inside]),
      ROOT_ONLY(/^(file-handle|guessed-file-handle|bind-mount|open-tree)$/),
    )
  })
}

claim('names', (name) => {
  const { file, outside } = playground()
  const hidden = file('outside/hidden')
  symlinkSync('/somewhere', join(outside, 'link'))
  expectEffective(unconfined(name, [hidden, join(outside, 'link'), outside]), /^mountinfo$/)
})

claim('write-outside', (name) => {
  const { inside, outside } = playground()
  execFileSync(programs.command(name)[0], ['--seed', outside])
  expectEffective(unconfined(name, [outside, inside]), ROOT_ONLY(/^rename-whiteout$/))
})

// Races are won by chance: without a cell they go on until they are, which the first few thousand rounds nearly always
// do.
const UNTIL_WON = '5000000'

claim('swap-race', (name) => {
  const { file, inside, outside } = playground()
  file('outside/file')
  expectEffective(unconfined(name, [outside, inside, UNTIL_WON]))
})

claim('pointer-race', async (name) => {
  const { file, folder } = playground()
  expectEffective(unconfined(name, ['paths', file('a/file', 'own'), file('b/file'), UNTIL_WON]))
  expectEffective(
    unconfined(name, [
      'exec',
      file('a/program', '#!/bin/sh\n', 0o755),
      file('b/program', '#!/bin/sh\nexit 42\n', 0o755),
      '20000',
    ]),
  )
  const host = await startListeners(folder('b'))
  expectEffective(unconfined(name, ['socket', join(folder('a'), 'stream'), join(folder('b'), 'stream'), '200000']))
  expect((await host.arrivals())['unix']).toBeGreaterThan(0)
})

claim('metadata', (name) => {
  const { file, inside } = playground()
  const owned = file('outside/owned')
  execFileSync('/usr/bin/python3', ['-c', 'import os, sys; os.setxattr(sys.argv[1], "user.mark", b"x")', owned])
  expectEffective(unconfined(name, [owned, inside]), ROOT_ONLY(/^chown-to-other$/))
})

claim('carve-out', (name) => {
  for (const mode of ['write', 'create', 'read']) {
    const { inside } = playground()
    execFileSync(programs.command(name)[0], ['--seed', mode, inside])
    expectEffective(unconfined(name, [mode, inside]))
  }
})

claim('sockets', async (name) => {
  const { outside } = playground()
  const host = await startListeners(outside)
  // A ping socket needs a range of groups that the host may not have opened.
  expectEffective(
    unconfined(name, [String(host.tcp), String(host.udp)]),
    IS_ROOT ? /^ping6?$/ : /^(ping6?|raw.*|packet.*|inet-packet|xdp)$/,
  )
  expect((await host.arrivals())['tcp']).toBeGreaterThan(0)
})

claim('reused-sockets', async (name) => {
  const { folder } = playground()
  const [granted, other] = await Promise.all([startListeners(folder('granted')), startListeners(folder('other'))])
  expectEffective(unconfined(name, [String(granted.tcp), String(other.tcp), String(other.udp), '200000']))
  expect((await other.arrivals())['tcp']).toBeGreaterThan(0)
})

for (const name of ['network.py', 'network.mjs']) {
  claim(name, async () => {
    const { outside } = playground()
    const host = await startListeners(outside)
    const [program, ...first] = programs.command(name)
    const output = await text(
      spawn(program, [...first, String(host.tcp), String(host.udp)], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout,
    )
    expectEffective(parseRoutes(output))
  })
}

claim('unix-sockets', async (name) => {
  const { inside, outside } = playground()
  const host = await startListeners(outside)
  expectEffective(
    unconfined(name, [
      join(outside, 'stream'),
      join(outside, 'datagram'),
      `${host.abstract}-stream`,
      `${host.abstract}-datagram`,
      inside,
    ]),
    ROOT_ONLY(/^$/),
  )
})

claim('environment', async (name) => {
  const { file } = playground()
  const mark = newMark()
  await startVictim(file('secret'), `${mark}-host-cmdline`, { OTHER: `${mark}-host-other` })
  const script = `exec 9<'${file('leaked')}'; '${programs.command(name)[0]}' '${mark}'; :`
  const { stdout } = spawnSync('/bin/sh', ['-c', script, `${mark}-host-shell`], {
    encoding: 'utf8',
    env: { SECRET_OF_HOST: `${mark}-host-secret` },
  })
  expectEffective(parseRoutes(stdout), OF_PROCESS_1)
})

claim('other-processes', async (name) => {
  const { file } = playground()
  const victim = await startVictim(file('secret'))
  expectEffective(
    unconfined(name, [String(victim.pid), victim.address, String(victim.fd)]),
    IS_ROOT ? /^$/ : /^process-madvise$/,
  )
  const state = await victim.state()
  expect(state.memory).toBe('SECRET in memoryplanted')
  // Signals of one kind that arrive before the first is handled are one.
  expect(state.signals).toBeGreaterThan(0)
})

claim('new-namespaces', (name) => {
  // One's own maps are written already. An ordinary user needs a user namespace for every other kind.
  const forRoot = /^(uid-map|setns-of-1-.*)$/
  const forUser =
    /^(uid-map|setgroups-file|setns-of-1-.*|(unshare|clone3?|clone-high-bits|setns|setns-pidfd)-(mnt|pid|net|ipc|uts|cgroup|time))$/
  expectEffective(unconfined(name, []), IS_ROOT ? forRoot : forUser)
})

claim('kernel-interfaces', (name) => {
  const { file } = playground()
  const routes = unconfined(name, [file('readable')])
  const reached = routes.filter(({ outcome }) => outcome === 'escaped').map(({ route }) => route)
  if (IS_ROOT) expectEffective(routes, /^syscall-/)
  // What an ordinary user reaches is what a cell must take away beyond the kernel's own checks.
  for (const route of [
    'userfaultfd',
    'keyctl-session',
    'add_key',
    'name_to_handle_at',
    'ptrace-traceme',
    'settimeofday',
  ])
    expect(reached).toContain(route)
})

claim('root-power', (name) => {
  const { inside } = playground()
  const routes = unconfined(name, ['-', inside])
  const had = routes.filter(({ outcome }) => outcome === 'escaped').map(({ route }) => route)
  expect(had).toContain('new-privileges')
  if (!IS_ROOT) return
  for (const route of [
    'mknod-zero',
    'chroot',
    'capabilities',
    'capset',
    'setresuid',
    'after-exec',
    'write /proc/sys/kernel/core_pattern',
  ])
    expect(had).toContain(route)
})

claim('wrong-architecture', (name) => {
  // Not every processor runs 32-bit programs.
  const { inside } = playground()
  expectEffective(
    unconfined(name, [inside])
      .filter(({ detail }) => !detail.includes('ENOEXEC') && !detail.includes('signal'))
      .concat({ route: 'asked', outcome: 'escaped', detail: '' }),
  )
})

claim('host-ipc', async (name) => {
  const ipc = await startHostIpc()
  expectEffective(unconfined(name, [ipc.key, ipc.name]), /^dev-mqueue$/)
  expect(await ipc.untouched()).toBe(false)
})

for (const name of ['exec-policy', 'exec-policy.py']) {
  claim(name, () => {
    const { inside } = playground()
    const loader = execFileSync(
      '/bin/sh',
      ['-c', 'for file in /lib64/ld-*.so* /lib/ld-*.so*; do [ -e "$file" ] && echo "$file" && break; done'],
      { encoding: 'utf8' },
    ).trim()
    // The kernel lets nobody make a second name for another user's program (protected_hardlinks).
    expectEffective(unconfined(name, ['/usr/bin/true', inside, loader]), ROOT_ONLY(/^hard-link$/))
  })
}

claim('terminal', (name) => {
  const [host] = programs.command('terminal-host')
  const output = execFileSync(host, programs.command(name), { encoding: 'utf8' })
  const { typed } = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '{}') as { typed: number }
  const legacy = readFileSync('/proc/sys/dev/tty/legacy_tiocsti', 'utf8').trim() === '1'
  if (legacy) {
    // Only root may take a terminal from another session.
    expectEffective(
      parseRoutes(output.replaceAll('\r', '')),
      IS_ROOT ? /^(tioclinux.*|open-\/dev\/.*)$/ : /^(tioclinux.*|open-\/dev\/.*|tiocsctty)$/,
    )
    expect(typed).toBeGreaterThan(0)
  } else expect(parseRoutes(output.replaceAll('\r', '')).length).toBeGreaterThan(0)
})

claim('process-bomb', async (name) => {
  for (const kind of ['fork', 'threads', 'orphans', 'starved']) {
    const mark = newMark()
    // In a session of its own, because a bomb clears up by a signal to its group; a shell as its parent, because one
    // kind starves that.
    const { stdout } = spawnSync(
      'setsid',
      ['-w', '/bin/sh', '-c', '"$@"; :', 'sh', ...programs.command(name), kind, '20', mark],
      { encoding: 'utf8' },
    )
    expectEffective(parseRoutes(stdout))
    await catchAll(mark)
  }
})

claim('memory-bomb', async (name) => {
  const { inside } = playground()
  // Each holds what it has for seconds, so that it could be seen: all at the same time.
  const [program, ...first] = programs.command(name)
  const bomb = (kind: string): Promise<string> =>
    text(spawn(program, [...first, kind, '16', inside], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout)
  const outputs = await Promise.all(
    ['anonymous', 'shared', 'memfd', 'file', 'page-tables', 'children', 'in-flight', 'sockets', 'pipes'].map(bomb),
  )
  for (const output of outputs) expectEffective(parseRoutes(output))
})

claim('burn', (name) => {
  const { root } = playground()
  for (const kind of ['cpu', 'cpu-setsid', 'cpu-children', 'cpu-orphans', 'cpu-ignored', 'cpu-threads', 'sleep'])
    expectEffective(unconfined(name, [kind, '0.1']))
  expectEffective(unconfined(name, ['files', '200']))
  expectEffective(unconfined(name, ['file', '5', join(root, 'large')]))
  expect(execFileSync(programs.command(name)[0], ['out', '2'], { maxBuffer: 4 << 20 })).toHaveLength(2 << 20)
})

claim('daemon', async (name) => {
  for (const kind of ['double-fork', 'single-fork', 'same-session', 'subreaper', 'stopped', 'runs-away']) {
    const mark = newMark()
    execFileSync(programs.command(name)[0], [kind, mark])
    expect((await untilRunning(mark)).length, kind).toBeGreaterThan(0)
    await catchAll(mark)
    expect(await survivorsOf(mark)).toEqual([])
  }
})

claim('climb-out', async (name) => {
  const { file, folder, inside, outside } = playground()
  file('outside/secret')
  file('outside/deeper/secret')
  const standing = folder('inside/standing')
  const child = spawn(programs.command(name)[0], [inside, standing], { stdio: ['ignore', 'pipe', 'inherit'] })
  child.stdout.once('data', () => {
    execFileSync('mv', [standing, join(outside, 'deeper')])
    file('inside/go', '')
  })
  expectEffective(parseRoutes(await text(child.stdout)), /^root$/)
})

claim('stdio', (name) => {
  const { file, folder } = playground()
  file('own/beside')
  const script = `'${programs.command(name)[0]}' 0 < '${file('own/input', 'input')}'`
  const { stdout } = spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8', cwd: folder('elsewhere') })
  // A descriptor that only reads cannot be written to or cut as it is, on any host.
  expectEffective(parseRoutes(stdout), IS_ROOT ? /^(write|ftruncate)$/ : /^(write|ftruncate|linkat)$/)
})

claim('supervisor', (name) => {
  const routes = [
    'ptrace',
    'proc-mem',
    'process-vm',
    'pidfd-getfd',
    'proc-root',
    'proc-cwd',
    'proc-exe',
    'setpriority',
    'prlimit',
    'sched-batch',
    'oom-score-adj',
    'sigstop',
    'sigterm',
    'sigsegv',
    'sigterm-group',
    'sigkill',
  ]
  for (const route of routes) {
    const { folder } = playground()
    // A parent of its own to be attacked, in its own group; the attacker in another.
    const { stdout } = spawnSync(
      'setsid',
      ['-w', '/bin/sh', '-c', 'setsid "$@"; :', 'sh', ...programs.command(name), 'parent', route],
      { encoding: 'utf8', cwd: folder('core') },
    )
    expectEffective(parseRoutes(stdout))
  }
})

claim('deputy', (name) => {
  // Without a supervisor there is no deputy; of the system's own files root may change all, and a user none.
  const { folder } = playground()
  const routes = unconfined(name, [folder('a/b')])
  const changed = routes.filter(({ outcome }) => outcome === 'escaped').map(({ route }) => route)
  expect(changed).toContain('..')
  if (IS_ROOT) for (const route of ['/', '/usr', '/etc', '/dev/null', '/etc/passwd']) expect(changed).toContain(route)
})

claim('forge-report', (name) => {
  const { status, stdout } = spawnSync('/bin/sh', ['-c', `exec 5>/dev/null; exec '${programs.command(name)[0]}'`], {
    encoding: 'latin1',
  })
  expect(status).toBe(9)
  expect(stdout).toContain('exit')
})

claim('notify-flood', (name) => {
  expect(spawnSync(programs.command(name)[0], ['200']).status).toBe(9)
})

claim('blocked-connects', (name) => {
  const { inside } = playground()
  expect(execFileSync(programs.command(name)[0], [inside, '5'], { encoding: 'utf8' })).toBe('asked\n')
})

test('every attack program is tried here', () => {
  expect(attackNames().filter((name) => !tried.has(name))).toEqual([])
})
