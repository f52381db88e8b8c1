import { existsSync, readFileSync, statSync } from 'node:fs'

import { expect, test } from 'vitest'

import { IS_ROOT, expectHeld, mustRun } from './harness.js'
import { startHostIpc } from './host-services.js'
import { detailOf } from './outcomes.js'
import { playground } from './playground.js'
import { describeAllCells } from './walled.js'

describeAllCells('kernel interfaces', (cell) => {
  test('cannot make or enter a namespace', async () => {
    expectHeld(await cell.attack('new-namespaces', []))
  })

  test(
    'cannot reach what no tool needs: io_uring, bpf, keyrings, mounts, clocks, … (as ' +
      `${IS_ROOT ? 'root' : 'an ordinary user'})`,
    async () => {
      const { file } = playground()
      const readable = file('readable', 'content\n')
      expectHeld(await cell.attack('kernel-interfaces', [readable], { policy: { filesystem: { read: [readable] } } }), {
        'ptrace-traceme': 'debuggers start their children so; whom a tool can trace is tried in debuggers.test.ts',
        'process_vm_readv-self': 'the same: of itself and its own children',
        'personality':
          'debuggers and some runtimes switch off randomisation for their own children, which gives nobody any right',
      })
    },
  )

  test('can use common features: threads, timers, memory files, polling', async () => {
    const script = `
import os, select, signal, threading, time, mmap, tempfile
threading.Thread(target=lambda: None).start()
os.write(os.memfd_create("x"), b"x")
e = select.epoll(); r, w = os.pipe(); e.register(r); os.write(w, b"x"); assert e.poll(1)
signal.setitimer(signal.ITIMER_REAL, 10); time.monotonic(); os.getrandom(4); os.cpu_count()
m = mmap.mmap(-1, 4096); m[0] = 1
tempfile.TemporaryFile().write(b"x"); os.uname(); os.getpid()
print("ok")
`
    expect((await cell.run(['/usr/bin/python3', '-c', script])).stdout).toBe('ok\n')
  })

  test(`has no powers of root (as ${IS_ROOT ? 'root' : 'an ordinary user'})`, async () => {
    const { inside } = playground()
    expectHeld(
      await cell.attack('root-power', [blockDevice(), inside], { policy: { filesystem: { write: [inside] } } }),
    )
  })

  test('cannot make system calls of another architecture', async () => {
    const { inside } = playground()
    const call = await cell.attack('wrong-architecture', [inside], { policy: { filesystem: { write: [inside] } } })
    expectHeld(call)
    // Killed by SIGSYS, or not even loaded where the kernel has no such programs.
    const { routes } = mustRun(call)
    expect(detailOf(routes, '32-bit-program')).toMatch(/signal 31|ENOEXEC/)
    if (process.arch !== 'x64') return
    for (const name of ['x32', 'x32-special']) expect(detailOf(routes, name)).toBe('killed by signal 31')
    // A kernel without 32-bit calls sends SIGSEGV. test/vm/kernels.matrix.test.ts tries one that has them.
    expect(detailOf(routes, 'int-80')).toMatch(/^killed by signal (?:31|11)$/)
  })

  test('can run a program of this architecture from its write root', async () => {
    const { inside } = playground()
    const call = await cell.run(['/bin/sh', '-c', 'cp /usr/bin/true own && ./own && echo ran'], {
      policy: { filesystem: { write: [inside] } },
      cwd: inside,
    })
    expect(call.stdout).toBe('ran\n')
  })

  test('cannot reach shared memory, queues and semaphores of the host', async () => {
    const ipc = await startHostIpc()
    const call = await cell.attack('host-ipc', [ipc.key, ipc.name])
    expect(await ipc.untouched()).toBe(true)
    expectHeld(call)
  })

  test('can share memory with its own child', async () => {
    const script =
      'import mmap, os\nm = mmap.mmap(-1, 4096)\nif os.fork() == 0:\n    m[0:3] = b"own"; ' +
      'os._exit(0)\nos.wait(); print(m[0:3].decode())'
    expect((await cell.run(['/usr/bin/python3', '-c', script])).stdout).toBe('own\n')
  })

  test('leaves no IPC object behind', async () => {
    const script = `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.shmget(0x2cffff01, 4096, 0o1666), libc.msgget(0x2cffff01, 0o1666), libc.semget(0x2cffff01, 1, 0o1666))
`
    await cell.run(['/usr/bin/python3', '-c', script])
    for (const table of ['shm', 'msg', 'sem'])
      expect(readFileSync(`/proc/sysvipc/${table}`, 'utf8')).not.toContain(String(0x2cffff01))
  })

  test('cannot make a set-user-id program in its write root for later use', async () => {
    const { file, inside } = playground()
    const program = file('inside/program', '#!/bin/sh\n', 0o755)
    await cell.run(
      [
        '/bin/sh',
        '-c',
        'chmod u+s program; chmod 6755 program; install -m 4755 program other; cp --preserve=mode program third; true',
      ],
      { policy: { filesystem: { write: [inside] } }, cwd: inside },
    )
    for (const path of [program, `${inside}/other`]) if (existsSync(path)) expect(statSync(path).mode & 0o6000).toBe(0)
  })
})

const blockDevice = (): string => {
  const name = readFileSync('/proc/partitions', 'utf8')
    .split('\n')
    .slice(2)
    .map((line) => line.trim().split(/\s+/)[3])
    .find((found) => found !== undefined && !/^(loop|ram)/.test(found))
  return name !== undefined && existsSync(`/dev/${name}`) ? `/dev/${name}` : '-'
}
