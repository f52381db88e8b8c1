// Some resources of a user are shared by all programs. A tool gets only a share of them.
import { spawnSync } from 'node:child_process'

import { expect, test } from 'vitest'

import { describeForms } from './harness.js'
import { playground } from './playground.js'

const PYTHON = '/usr/bin/python3'

const USE_UP = (make: string, most: number) => `
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
libc.timer_create.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
held, timer = [], ctypes.c_void_p()
def make(): ${make}
while len(held) < ${String(most)}:
  try: one = make()
  except OSError: break
  if one is None or (isinstance(one, int) and one < 0): break
  held.append(one)
print(len(held), flush=True)
`

describeForms('a user', (cell) => {
  test('keeps inotify instances, also if a tool hides the ones that it holds', async () => {
    const { stdout } = await cell.run([PYTHON, '-c', USE_UP('return libc.inotify_init1(0)', 300)])
    expect(stdout).toBe('16\n')
    const hide =
      'a, b = socket.socketpair()\n  fd = libc.inotify_init1(0)\n  if fd < 0: return None\n  ' +
      'socket.send_fds(a, [b"x"], [fd]); os.close(fd); return (a, b)'
    const hidden = await cell.run([PYTHON, '-c', USE_UP(`\n  ${hide}`, 300)])
    expect(hidden.stdout).toBe('16\n')
  })

  test('keeps timers and queued signals', async () => {
    const { stdout } = await cell.run([
      PYTHON,
      '-c',
      USE_UP('return None if libc.timer_create(1, None, ctypes.byref(timer)) else 1', 5000),
    ])
    expect(Number(stdout)).toBeLessThanOrEqual(1024)
  })

  test('keeps socket names, where the host shares them', async () => {
    const policy = cell.form === 'namespaces' ? { network: 'all' as const } : {}
    const bind = (name: string) =>
      `import socket\ntry: socket.socket(socket.AF_UNIX).bind(${name}); print("bound")\nexcept OSError as ` +
      'error: print(error.errno)'
    const { stdout, result } = await cell.run([PYTHON, '-c', `${bind('"\\0cordon-budget"')}\n${bind('b""')}`], {
      policy,
    })
    expect(stdout).toBe('13\n13\n')
    expect(result.violations.map(({ kind }) => kind)).toEqual(['listen', 'listen'])
  })

  test('keeps terminals', async () => {
    const { stdout } = await cell.run([PYTHON, '-c', USE_UP('return os.openpty()', 200)])
    expect(Number(stdout)).toBeLessThanOrEqual(64)
  })

  test('can run tools that use some of each', async () => {
    const { inside } = playground()
    const script = `
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
for i in range(100): os.close(libc.inotify_init1(0))
for i in range(100):
  for fd in os.openpty(): os.close(fd)
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect("s"); print(s.getsockname())
`
    const { stdout, stderr } = await cell.run([PYTHON, '-c', script], {
      policy: { filesystem: { write: [inside] } },
      cwd: inside,
    })
    expect({ stdout, stderr }).toEqual({ stdout: 's\n', stderr: '' })
  })

  test(
    'hears nothing of a crash: a limit of exactly 1 stays, whatever the tool sets, and nothing of its memory ' +
      'would be told',
    async () => {
      const script = `
import resource
print(resource.getrlimit(resource.RLIMIT_CORE))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
print(resource.getrlimit(resource.RLIMIT_CORE))
try: print(int(open("/proc/self/coredump_filter").read(), 16))
except OSError: print(0)
try: open("/proc/self/coredump_filter", "w").write("0x7f"); print("changed")
except OSError: print("refused")
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); print(resource.getrlimit(resource.RLIMIT_NOFILE))`
      const allowed =
        spawnSync(PYTHON, ['-c', 'import resource; print(resource.getrlimit(resource.RLIMIT_CORE)[1] != 0)'], {
          encoding: 'utf8',
        }).stdout === 'True\n'
      const { stdout } = await cell.run([PYTHON, '-c', script])
      // Who may have no limit but 0 keeps that.
      const limit = allowed ? '(1, 1)' : '(0, 0)'
      expect(stdout).toBe(`${limit}\n${limit}\n0\nrefused\n(64, 64)\n`)
    },
  )
})
