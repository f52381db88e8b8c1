import { expect, test } from 'vitest'

import { describeForms } from './harness.js'

const TRACE = (target: string) => `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
class Part(ctypes.Structure): _fields_ = [("at", ctypes.c_void_p), ("length", ctypes.c_size_t)]
def errors(pid):
  room = ctypes.create_string_buffer(8)
  here, there = Part(ctypes.addressof(room), 8), Part(ctypes.addressof(room), 8)
  for name, call in (("attach", lambda: libc.ptrace(16, pid, None, None)), ("seize", lambda: libc.ptrace(0x4206, pid, None, None)),
                     ("read", lambda: libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)),
                     ("write", lambda: libc.process_vm_writev(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))):
    print(name, "done" if call() >= 0 else os.strerror(ctypes.get_errno()))
${target}`

describeForms('a debugger', (cell) => {
  test('cannot read the keeper of its own cell', async () => {
    const { stdout } = await cell.run(['/usr/bin/python3', '-c', TRACE('errors(os.getppid())')])
    expect(stdout).toBe(
      ['attach', 'seize', 'read', 'write'].map((name) => `${name} Operation not permitted\n`).join(''),
    )
  })

  test('cannot read a process of the host or of another call', async () => {
    const other = cell.run(['/bin/sleep', '2'])
    const { stdout } = await cell.run(['/usr/bin/python3', '-c', TRACE(`errors(${String(process.pid)})`)])
    // In a pid namespace there is none of that number, or it is another one's.
    expect(stdout).not.toContain('done')
    const all = await cell.run([
      '/usr/bin/python3',
      '-c',
      TRACE(
        'for name in os.listdir("/proc") if os.path.exists("/proc/2") else map(str, range(1, 60000)):\n  if ' +
          'name.isdigit() and int(name) != os.getpid() and libc.ptrace(16, int(name), None, None) == 0: ' +
          'print("traced", name)',
      ),
    ])
    expect(all.stdout).toBe('')
    await other
  })

  test('can read its own child', async () => {
    const { stdout } = await cell.run([
      '/usr/bin/python3',
      '-c',
      TRACE('child = os.fork()\nif child == 0:\n  import time; time.sleep(30)\nerrors(child)\nos.kill(child, 9)'),
    ])
    expect(stdout).toMatch(/^attach done\nseize .*\nread done\nwrite done\n$/)
  })
})
