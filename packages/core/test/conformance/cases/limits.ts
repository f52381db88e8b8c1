import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area } from '../claim.js'
import { textOf } from '../stage.js'

const python = (text: string): readonly string[] => ['/usr/bin/python3', '-c', text]

// A handler that does not restart calls, as that of many a shell.
const FORKS = `import os, signal
signal.signal(signal.SIGCHLD, lambda number, frame: None)
signal.signal(signal.SIGALRM, lambda number, frame: None)
signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
for made in range(4000):
  if os.fork() == 0: os._exit(0)
  try:
    while os.waitpid(-1, os.WNOHANG)[0] > 0: pass
  except ChildProcessError: pass
signal.setitimer(signal.ITIMER_REAL, 0)
print(made + 1)`

export const limits: Area = area('Limits', [
  {
    claim: 'a call that takes too long is killed, keeps its output, and reports the limit',
    policy: { limits: { wall: '300ms' } },
    run: 'echo begun; sleep 300',
    then: { limit: 'wall', stdout: 'begun\n', violations: [{ kind: 'wall' }] },
  },
  {
    claim: 'a call within its time is not affected',
    policy: { limits: { wall: '60s' } },
    run: 'echo done',
    then: { stdout: 'done\n' },
  },
  {
    claim: 'a call that computes too long is killed and reports the limit',
    policy: { limits: { cpu: '300ms', wall: '60s' } },
    run: 'while :; do :; done',
    then: { limit: 'cpu', violations: [{ kind: 'cpu' }] },
  },
  {
    claim: 'waiting does not count as computing',
    policy: { limits: { cpu: '200ms' } },
    run: 'sleep 0.5; echo done',
    then: { stdout: 'done\n' },
  },
  {
    claim: 'a call that takes too much memory is killed and reports the limit',
    policy: { limits: { memory: '64M', wall: '60s' } },
    run: python('import time\nx = bytearray(400 << 20)\ntime.sleep(300)'),
    then: { limit: 'memory', violations: [{ kind: 'memory' }] },
  },
  {
    claim: 'memory of all processes of a call counts together',
    policy: { limits: { memory: '96M', wall: '60s' } },
    run: python(
      'import os, time\nfor i in range(4):\n  if os.fork() == 0:\n    x = bytearray(48 << 20)\n    ' +
        'time.sleep(300)\ntime.sleep(300)',
    ),
    then: { limit: 'memory', violations: [{ kind: 'memory' }] },
  },
  {
    claim: 'memory within the limit can be used',
    policy: { limits: { memory: '256M', wall: '60s' } },
    run: python('x = bytearray(48 << 20)\nprint(len(x))'),
    then: { stdout: `${48 << 20}\n` },
  },
  {
    claim: 'output beyond the limit ends the call, which reports the limit',
    policy: { limits: { output: 1024 } },
    run: 'head -c 5000 /dev/zero | tr "\\0" x; sleep 300',
    then: { limit: 'output', stdout: 'x'.repeat(1024), violations: [{ kind: 'output' }] },
  },
  {
    claim: 'output up to the limit is complete',
    policy: { limits: { output: 1024 } },
    run: 'head -c 1000 /dev/zero | tr "\\0" x; head -c 24 /dev/zero | tr "\\0" y >&2',
    then: { stdout: 'x'.repeat(1000), stderr: 'y'.repeat(24) },
  },
  {
    claim: 'a process beyond the limit is refused and reported',
    policy: { limits: { processes: 4, wall: '60s' } },
    run: '(sleep 1 & sleep 1 & sleep 1 & sleep 1 & sleep 1 & wait) 2> /dev/null; true',
    then: { violations: [{ kind: 'processes' }] },
  },
  {
    claim: 'processes within the limit can be started',
    policy: { limits: { processes: 8 } },
    run: ['/bin/bash', '-c', 'echo a | cat | cat | cat'],
    then: { stdout: 'a\n' },
  },
  {
    claim: 'a limit of processes does not make fork fail when a signal arrives',
    policy: { limits: { processes: 16 } },
    run: python(FORKS),
    then: { stdout: '4000\n' },
  },
  {
    claim: 'threads count as processes',
    policy: { limits: { processes: 6, wall: '60s' } },
    run: python(
      'import threading, time\nfor i in range(20):\n  try: threading.Thread(target=time.sleep, args=(1,), ' +
        'daemon=True).start()\n  except RuntimeError: print("refused"); break',
    ),
    then: { stdout: 'refused\n', violations: [{ kind: 'processes' }] },
  },
  {
    claim: 'a descriptor beyond the limit is refused',
    policy: { limits: { openFiles: 16 } },
    run: python('try:\n  files = [open("/dev/null") for i in range(32)]\nexcept OSError as error: print(error.errno)'),
    then: { stdout: '24\n' },
  },
  {
    claim: 'a file beyond the limit is refused',
    policy: { limits: { fileSize: 1024 } },
    run: '(head -c 5000 /dev/zero > "$TMPDIR/f") 2> /dev/null; wc -c < "$TMPDIR/f"',
    then: { stdout: '1024\n' },
  },
  {
    claim: 'a program that a file beyond the limit kills reports that limit',
    tell: async ({ run }) => {
      const result = await run(['/bin/sh', '-c', 'exec head -c 5000 /dev/zero > "$TMPDIR/f"'], {
        policy: { limits: { fileSize: 1024 } },
      })
      expect(result).toMatchObject({
        status: 'limit',
        limit: 'fileSize',
        violations: [{ kind: 'fileSize', limit: 1024, effect: 'ended' }],
      })
    },
  },
  {
    claim: 'private folders within their limit can be filled',
    policy: { limits: { scratch: '8M' } },
    run: 'head -c 4000000 /dev/zero > "$TMPDIR/f" && echo filled',
    then: { stdout: 'filled\n' },
  },
  {
    // Where the folder is a file system of its own the write fails; elsewhere the call is ended.
    claim: 'a call that fills its private folders is stopped, and the limit is reported',
    tell: async ({ run }) => {
      const { violations, stdout } = await run('head -c 3000000 /dev/zero > "$TMPDIR/f" && sleep 300; echo full', {
        policy: { limits: { scratch: '1M', wall: '60s' } },
      })
      expect(violations).toMatchObject([{ kind: 'scratch' }])
      expect(['', 'full\n']).toContain(textOf(stdout))
    },
  },
])
