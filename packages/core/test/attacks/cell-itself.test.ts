import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'

import { expect, test } from 'vitest'

import { findLauncher } from 'cordon/sandbox'

import { IS_ROOT, boundaryOf, expectHeld, inMainCells, mustRun } from './harness.js'
import { playground, snapshot } from './playground.js'
import { describeCells } from './walled.js'

const fingerprint = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

/** How many processes of the launcher's program run on this host, those of other tests included. */
const launchers = (): number =>
  readdirSync('/proc').filter((entry) => {
    try {
      return /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/comm`, 'utf8').startsWith('cordon-cell')
    } catch {
      return false
    }
  }).length

describeCells('the cell itself', (cell) => {
  test('cannot stop, kill, trace, starve or read its supervisor', async () => {
    const call = await cell.attack('supervisor', [cell.form === 'namespaces' ? 'first' : 'parent'], {
      policy: { limits: { wall: '30s' } },
    })
    expectHeld(call)
  })

  test('still ends at the wall clock after such attempts', async () => {
    const call = await cell.call(
      ['/bin/sh', '-c', 'kill -STOP 1 $PPID; kill -KILL 1 $PPID; kill -TERM 1 $PPID; sleep 60'],
      { policy: { limits: { wall: '1s' } } },
    )
    expect(mustRun(call).result).toMatchObject({ status: 'limit', limit: 'wall' })
  })

  test('cannot overwrite the launcher or the program that it runs', async () => {
    const launcher = findLauncher()
    const before = [fingerprint(launcher), ...snapshot(launcher), fingerprint('/bin/sh')]
    const script =
      'for f in /proc/1/exe /proc/$PPID/exe /proc/self/exe "$1"; do (echo x >> "$f"; : > "$f"; chmod 777 ' +
      '"$f"; cp /bin/true "$f") 2>/dev/null; done; true'
    await cell.run(['/bin/sh', '-c', script, 'sh', launcher])
    expect([fingerprint(launcher), ...snapshot(launcher), fingerprint('/bin/sh')]).toEqual(before)
  })

  test('signals to its own group reach only the tool', async () => {
    const call = await cell.run(['/bin/sh', '-c', 'kill -TERM 0; sleep 5'])
    expect(call.result).toMatchObject({ status: 'signaled', signal: 15 })
    expect((await cell.run(['/bin/echo', 'well'])).stdout).toBe('well\n')
  })

  test('cannot forge the report of its end', async () => {
    const call = mustRun(await cell.attack('forge-report', []))
    expect(call.result).toMatchObject({ status: 'exited', exitCode: 7, violations: [] })
    // Nine forgeries, byte for byte what was printed, on both streams.
    expect(call.stdout).toHaveLength(160)
    expect(call.stderr).toBe(call.stdout)
  })

  test.each([0, 1, 124, 125, 126, 127, 137, 255])('reports the exit status %i of the tool unchanged', async (code) => {
    const call = await cell.run(['/bin/sh', '-c', `exit ${String(code)}`])
    expect(call.result).toMatchObject({ status: 'exited', exitCode: code })
  })

  test('a supervisor under a flood of interrupted notifications still notices the end', inMainCells(cell), async () => {
    const call = mustRun(await cell.attack('notify-flood', ['1500'], { policy: { limits: { wall: '40s' } } }))
    expect(call.result).toMatchObject({ status: 'exited', exitCode: 9 })
    expect((await cell.run(['/bin/echo', 'well'])).stdout).toBe('well\n')
  })

  test('a flood of refusals does not flood the host with reports', inMainCells(cell), async () => {
    const script =
      'import socket\nfor i in range(60000):\n    s = socket.socket(socket.AF_UNIX)\n    try: ' +
      's.connect("/usr/bin/env")\n    except OSError: pass\n    s.close()'
    const call = await cell.run(['/usr/bin/python3', '-c', script], { policy: { limits: { wall: '50s' } } })
    expect(call.result).toMatchObject({ status: 'exited', exitCode: 0 })
    expect(call.result.violations.length).toBeGreaterThan(0)
    expect(call.result.violations.length).toBeLessThan(10_000)
  })

  test('pending connections do not create processes beyond its limit', inMainCells(cell), async () => {
    const { inside } = playground()
    let most = 0
    const call = mustRun(
      await cell.attack('blocked-connects', [inside, '300'], {
        policy: { filesystem: { write: [inside] }, limits: { processes: 30, wall: '50s' } },
        onStdout: () => {
          most = Math.max(most, launchers())
        },
      }),
    )
    expect(call.stdout).toContain('asked\n')
    expect(most).toBeLessThan(150)
  })

  test('a tool that never reads its input, or closes its output, still ends', async () => {
    const call = await cell.run(['/bin/sh', '-c', 'exec <&- >&- 2>&-; exit 3'], { stdin: 'x'.repeat(1 << 20) })
    expect(call.result).toMatchObject({ status: 'exited', exitCode: 3 })
  })

  test('a tool that reads its input gets all of it', async () => {
    const call = await cell.run(['/usr/bin/wc', '-c'], { stdin: 'x'.repeat(3_000_000) })
    expect(call.stdout.trim()).toBe('3000000')
  })

  test('no signal interrupts a fork, as on a bare host', inMainCells(cell), async () => {
    const script =
      'import os, signal\nsignal.signal(signal.SIGCHLD, lambda *_: None)\nfailed = 0\nfor i in range(300):\n ' +
      '   try:\n        if os.fork() == 0: os._exit(0)\n        if i % 8 == 0:\n            while ' +
      'os.waitpid(-1, os.WNOHANG)[0]: pass\n    except ChildProcessError: pass\n    except OSError: failed ' +
      '+= 1\nprint(failed)'
    expect((await cell.run(['/usr/bin/python3', '-c', script])).stdout).toBe('0\n')
  })

  test('the root folder can be the working directory', async () => {
    expect((await cell.run(['/bin/sh', '-c', 'pwd'], { cwd: '/' })).stdout).toBe('/\n')
  })

  test('a device of the host can be used but not changed', async () => {
    const script =
      'for d in /dev/null /dev/zero /dev/full /dev/urandom; do chmod "$(stat -c %a $d)" $d && echo changed; ' +
      'touch -r $d $d && echo changed; done 2>/dev/null; echo x > /dev/null; head -c 4 /dev/zero | wc -c'
    expect((await cell.run(['/bin/sh', '-c', script])).stdout).toBe('4\n')
  })

  test('a warm cell serves one call and shows nothing of it to the next', async () => {
    const { inside } = playground()
    const pool = cell.sandbox.warm({
      boundary: boundaryOf({ filesystem: { write: [inside] } }, inside, inside),
      cwd: inside,
      program: '/bin/sh',
      form: cell.form,
    })
    try {
      const script = 'ls "${TMPDIR:-/tmp}"; echo left > "${TMPDIR:-/tmp}/left"; LEFT=1; (sleep 60 &) ; echo $$'
      const outputs = []
      for (let call = 0; call < 4; call += 1)
        outputs.push(Buffer.from((await pool.run({ argv: ['/bin/sh', '-c', script] })).stdout).toString())
      expect(outputs.every((output) => !output.includes('left'))).toBe(true)
    } finally {
      pool.close()
    }
  })

  test('another user cannot control the nursery', inMainCells(cell), ({ skip }) => {
    if (!IS_ROOT) skip('another user can only be tried as root')
    const listening = readFileSync('/proc/net/unix', 'utf8')
      .split('\n')
      .filter((line) => /cordon/.test(line))
    for (const line of listening) {
      const name = line.slice(line.lastIndexOf(' ') + 1)
      if (!name.startsWith('@')) continue
      const script =
        `import socket, sys\ns = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)\ns.settimeout(3)\ntry:\n    ` +
        `s.connect("\\0" + sys.argv[1]); s.send(b"P" + bytes(8)); print("answered" if s.recv(1) else ` +
        `"")\nexcept OSError: pass`
      const answer = execFileSync(
        'setpriv',
        ['--reuid', '65534', '--regid', '65534', '--clear-groups', '/usr/bin/python3', '-c', script, name.slice(1)],
        { encoding: 'utf8' },
      )
      expect(answer.trim(), name).toBe('')
    }
  })

  test('the working directory and /tmp contain nothing of Cordon after a call', async () => {
    const { inside } = playground()
    await cell.run(['/bin/true'], { policy: { filesystem: { write: [inside] } }, cwd: inside })
    expect(readdirSync(inside)).toEqual([])
  })
})
