// The attack programs of test/attacks that a call in a container can express, each with an allowed twin.
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { programs } from '../attacks/harness.js'
import type { PolicyText } from '../attacks/harness.js'
import { NO_ARRIVALS, startHostIpc, startListeners, startVictim } from '../attacks/host-services.js'
import type { Exceptions } from '../attacks/outcomes.js'
import { snapshot } from '../attacks/playground.js'
import type { Playground } from '../attacks/playground.js'
import { newMark } from '../attacks/survivors.js'

export interface Ground {
  readonly args: readonly string[]
  readonly policy?: PolicyText
  readonly except?: Exceptions
  readonly hostEnvironment?: Readonly<Record<string, string>>
  /** What the host sees. The attack must not change it. */
  readonly state?: () => unknown
  /** Its last state, if it differs from the first by its nature. */
  readonly then?: unknown
}

export interface Attack {
  readonly program: string
  /** The claim is "cannot …". */
  readonly cannot: string
  readonly on: (ground: Playground) => Ground | Promise<Ground>
  /** What is allowed all the same, as "can …": the same program with another policy, or a script that says "ok". */
  readonly can: string
  readonly twin: ((ground: Playground) => Ground) | string
}

const writing = (...paths: readonly string[]): PolicyText => ({ filesystem: { write: paths } })

const reading = (program: string): Attack => ({
  program,
  cannot: `read an SSH key of the user (${program})`,
  on: ({ file, inside }) => ({ args: [file('home/.ssh/id_ed25519'), inside], policy: writing(inside) }),
  can: `read a granted file (${program})`,
  twin: ({ file, inside }) => {
    const granted = file('home/.ssh/known_hosts', 'GRANTED\n')
    return { args: [granted, inside], policy: { filesystem: { read: [granted], write: [inside] } } }
  },
})

const seeded = (program: string, ...words: readonly string[]): void => {
  execFileSync(programs.command(program)[0], ['--seed', ...words])
}

const routesOf = (mode: string): readonly string[] =>
  execFileSync(programs.command('carve-out')[0], ['--routes', mode], { encoding: 'utf8' }).trimEnd().split('\n')

const changing = (grant: 'no' | 'a read'): Attack => ({
  program: 'write-outside',
  cannot: `change a folder with ${grant} grant`,
  on: ({ inside, outside }) => {
    seeded('write-outside', outside)
    const policy = { filesystem: { read: grant === 'no' ? [] : [outside], write: [inside] } }
    return { args: [outside, inside], policy, state: () => snapshot(outside) }
  },
  can: `change a folder with a write grant, beside one with ${grant} grant`,
  twin: ({ inside, outside }) => {
    seeded('write-outside', outside)
    return { args: [outside, inside], policy: writing(inside, outside) }
  },
})

const carved = (mode: 'write' | 'read'): Attack => ({
  program: 'carve-out',
  cannot: `${mode} a carved-out file by any route`,
  on: ({ inside }) => {
    seeded('carve-out', mode, inside)
    const out = [`!${inside}/**/secret`]
    const policy = { filesystem: mode === 'write' ? { write: [inside, ...out] } : { write: [inside], read: out } }
    const secrets = routesOf(mode).map((route) => join(inside, route, 'conf/secret'))
    const lost = 'the null device takes what is written, and the file stays as it is'
    return {
      args: [mode, inside],
      policy,
      except: mode === 'write' ? Object.fromEntries(routesOf(mode).map((route) => [route, lost])) : {},
      state: () => secrets.flatMap((path) => snapshot(path, path)),
    }
  },
  can: `${mode} it if it is not carved out`,
  twin: ({ inside }) => {
    seeded('carve-out', mode, inside)
    return { args: [mode, inside], policy: writing(inside) }
  },
})

const dialling = (program: string): Attack => ({
  program,
  cannot: `reach a service of the host (${program})`,
  on: async ({ outside }) => {
    const host = await startListeners(outside)
    return { args: [String(host.tcp), String(host.udp)], state: once(host.arrivals), then: NO_ARRIVALS }
  },
  can: `talk to itself over a socket pair (beside ${program})`,
  twin: 'import socket; a, b = socket.socketpair(); a.send(b"ok"); print(b.recv(9).decode())',
})

/** A service tells its state at its end. */
const once = (tell: () => Promise<unknown>): (() => unknown) => {
  let isFirst = true
  return () => {
    if (!isFirst) return tell()
    isFirst = false
    return undefined
  }
}

const OWN_CHILD =
  'import os, signal, time; p = os.fork()\nif p == 0: time.sleep(30)\nos.kill(p, signal.SIGTERM); ' +
  'print("ok" if os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) == -15 else "")'

const supervising = (whom: 'first' | 'parent'): Attack => ({
  program: 'supervisor',
  cannot: `stop, kill, trace, starve or read ${whom === 'first' ? 'the first process' : 'its supervisor'}`,
  on: () => ({ args: [whom], policy: { limits: { wall: '60s' } } }),
  can: `signal its own child (beside ${whom})`,
  twin: OWN_CHILD,
})

/** A test of its own reads these. */
export const MASKED = ['kcore', 'keys', 'timer_list', 'sched_debug'].map((name) => `/proc/${name}`)

const attacks = (...all: readonly Attack[]): readonly Attack[] => all

export const ATTACKS: readonly Attack[] = attacks(
  ...['read-path', 'read-path.py', 'read-path.mjs', 'read-path.sh'].map(reading),
  {
    program: 'names',
    cannot: 'find or list names without a grant',
    on: ({ file, outside, inside }) => {
      const hidden = file('outside/hidden')
      symlinkSync('/somewhere', join(outside, 'link'))
      return { args: [hidden, join(outside, 'link'), outside], policy: { filesystem: { read: [inside] } } }
    },
    can: 'find and list names with a grant',
    twin: ({ file, outside }) => {
      const hidden = file('outside/hidden')
      symlinkSync('/somewhere', join(outside, 'link'))
      return { args: [hidden, join(outside, 'link'), outside], policy: { filesystem: { read: [outside] } } }
    },
  },
  {
    program: 'swap-race',
    cannot: 'read by swapping a link during its use',
    on: ({ file, inside, outside }) => {
      file('outside/file')
      return { args: [outside, inside, '2000'], policy: writing(inside), state: () => snapshot(outside) }
    },
    can: 'win that race where both folders are granted',
    twin: ({ file, inside, outside }) => {
      file('outside/file')
      return { args: [outside, inside, '200000'], policy: writing(inside, outside) }
    },
  },
  {
    program: 'pointer-race',
    cannot: 'read by changing the path during the call',
    on: ({ file, folder }) => ({
      args: ['paths', file('a/file', 'GRANTED\n'), file('b/file'), '2000'],
      policy: writing(folder('a')),
    }),
    can: 'win that race where both folders are granted, by changing the path',
    twin: ({ file, folder }) => ({
      args: ['paths', file('a/file', 'GRANTED\n'), file('b/file'), '200000'],
      policy: writing(folder('a'), folder('b')),
    }),
  },
  ...(['no', 'a read'] as const).map(changing),
  ...(['write', 'read'] as const).map(carved),
  {
    program: 'metadata',
    cannot: 'change mode, owner, times or attributes of a file with a read grant',
    on: ({ file, inside, outside }) => ({
      args: [file('outside/owned', 'content\n'), inside],
      policy: { filesystem: { read: [outside], write: [inside] } },
      state: () => snapshot(outside),
    }),
    can: 'change them in a write root',
    twin: ({ file, inside, outside }) => ({
      args: [file('outside/owned', 'content\n'), inside],
      policy: writing(inside, outside),
    }),
  },
  {
    program: 'deputy',
    cannot: 'use its supervisor as a deputy on objects of the system',
    on: ({ folder, inside }) => ({
      args: [folder('inside/a/b')],
      policy: { filesystem: { read: [inside] } },
      state: () => ['/usr/bin/env', '/etc/passwd'].flatMap((path) => snapshot(path)),
    }),
    can: 'change its own folder',
    twin: ({ folder, inside }) => ({ args: [folder('inside/a/b')], policy: writing(inside) }),
  },
  ...['sockets', 'network.py', 'network.mjs'].map(dialling),
  {
    program: 'unix-sockets',
    cannot: 'reach a Unix socket of the host, by path or abstract name',
    on: async ({ inside, outside }) => {
      const host = await startListeners(outside)
      const named = ['stream', 'datagram'].map((name) => join(outside, name))
      const abstract = ['stream', 'datagram'].map((name) => `${host.abstract}-${name}`)
      const policy = { filesystem: { read: [outside], write: [inside] } }
      return { args: [...named, ...abstract, inside], policy, state: once(host.arrivals), then: NO_ARRIVALS }
    },
    can: 'reach its own process over a Unix socket',
    twin:
      'import os, socket\np = os.environ["TMPDIR"] + "/own"\ns = socket.socket(socket.AF_UNIX); s.bind(p); ' +
      's.listen(1)\nif os.fork() == 0:\n    c = socket.socket(socket.AF_UNIX); c.connect(p); c.send(b"ok"); ' +
      'os._exit(0)\nprint(s.accept()[0].recv(9).decode())',
  },
  {
    program: 'environment',
    cannot: 'find variables, command lines, memory or descriptors of its caller',
    on: async ({ file }) => {
      const mark = newMark()
      await startVictim(file('secret'), `${mark}-host-cmdline`, { OTHER: `${mark}-host-other` })
      return { args: [mark], hostEnvironment: { CORDON_ATTACK_SECRET: `${mark}-host-secret` } }
    },
    can: 'read about itself in /proc',
    twin: 'import os; print("ok" if len(open("/proc/self/stat").read()) > 0 and "0" in os.listdir("/proc/self/fd") else "")',
  },
  {
    program: 'other-processes',
    cannot: 'signal, trace, read, change or borrow from another process of the same user',
    on: async ({ file }) => {
      const victim = await startVictim(file('secret'))
      return {
        args: [String(victim.pid), victim.address, String(victim.fd)],
        state: once(victim.state),
        then: { signals: 0, memory: 'SECRET in memory' },
      }
    },
    can: 'signal and watch its own child',
    twin: OWN_CHILD,
  },
  ...(['first', 'parent'] as const).map(supervising),
  {
    program: 'new-namespaces',
    cannot: 'make or enter a namespace',
    on: () => ({ args: [] }),
    can: 'make a child that shares its own',
    twin: 'import os\nif os.fork() == 0: print("ok", flush=True); os._exit(0)\nos.wait()',
  },
  {
    program: 'kernel-interfaces',
    cannot: 'reach what no tool needs: io_uring, bpf, keyrings, mounts, clocks',
    on: ({ file }) => {
      const readable = file('readable', 'content\n')
      return {
        args: [readable],
        policy: { filesystem: { read: [readable] } },
        except: {
          'ptrace-traceme': 'debuggers start their children so',
          'process_vm_readv-self': 'the same: of itself and its own children',
          'personality': 'debuggers switch off randomisation for their own children',
        },
      }
    },
    can: 'use common features: threads, timers, memory files, polling',
    twin:
      'import os, select, signal, threading, mmap\nthreading.Thread(target=lambda: None).start()\n' +
      'os.write(os.memfd_create("x"), b"x")\ne = select.epoll(); r, w = os.pipe(); e.register(r); os.write(w, b"x"); ' +
      'assert e.poll(1)\nsignal.setitimer(signal.ITIMER_REAL, 10); m = mmap.mmap(-1, 4096); m[0] = 1\nprint("ok")',
  },
  {
    program: 'root-power',
    cannot: 'use powers of root',
    on: ({ inside }) => ({
      args: ['-', inside],
      policy: writing(inside),
      except: Object.fromEntries<string>([
        ...['firmware', 'kernel/security', 'kernel/debug'].map(
          (name) => [`read /sys/${name}`, 'names can be listed'] as const,
        ),
        ...MASKED.map((path) => [`read ${path}`, 'the engine covers it with the null device'] as const),
      ]),
    }),
    can: 'use those of an ordinary user',
    twin: 'import os; p = os.environ["TMPDIR"] + "/f"; open(p, "w").close(); os.chmod(p, 0o600); os.unlink(p); print("ok")',
  },
  {
    program: 'wrong-architecture',
    cannot: 'make system calls of another architecture',
    on: ({ inside }) => ({ args: [inside], policy: writing(inside) }),
    can: 'run a program of this architecture that it made',
    twin:
      'import os, shutil, subprocess; p = os.environ["TMPDIR"] + "/own"; shutil.copy("/usr/bin/true", p)\n' +
      'print("ok" if subprocess.call([p]) == 0 else "")',
  },
  {
    program: 'host-ipc',
    cannot: 'reach shared memory, queues and semaphores of the host',
    on: async () => {
      const ipc = await startHostIpc()
      return { args: [ipc.key, ipc.name], state: once(ipc.untouched), then: true }
    },
    can: 'share memory with its own child',
    twin:
      'import mmap, os\nm = mmap.mmap(-1, 4096)\nif os.fork() == 0:\n    m[0:2] = b"ok"; os._exit(0)\n' +
      'os.wait(); print(m[0:2].decode())',
  },
  {
    program: 'terminal',
    cannot: 'type into a terminal of its caller',
    on: () => ({ args: [] }),
    can: 'make a terminal of its own',
    twin:
      'import os, pty\np, f = pty.fork()\nif p == 0: os.write(1, b"ok"); os._exit(0)\n' +
      'print(os.read(f, 9).decode())',
  },
)
