import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { expectHeld, inMainCells, programs } from './harness.js'
import { hostScript } from './host-script.js'
import type { HostRequest } from './host-script.js'
import { startVictim } from './host-services.js'
import { expectRefused, parseRoutes } from './outcomes.js'
import { playground } from './playground.js'
import { newMark, untilRunning } from './survivors.js'
import { describeCells } from './walled.js'

const MARK = newMark()

beforeAll(() => {
  process.env['CORDON_ATTACK_SECRET'] = `${MARK}-host-secret`
})
afterAll(() => {
  delete process.env['CORDON_ATTACK_SECRET']
})

describeCells('a tool and the data of its caller', (cell) => {
  test('cannot find the environment, command line, memory or descriptors', async () => {
    const { file } = playground()
    await startVictim(file('secret'), `${MARK}-host-cmdline`, { OTHER: `${MARK}-host-other` })
    const hostEnvironment = { CORDON_ATTACK_SECRET: `${MARK}-host-secret`, PATH: '/usr/bin' }
    expectHeld(await cell.attack('environment', [MARK], { hostEnvironment }))
  })

  test('gets only the variables that its policy names', async () => {
    const call = await cell.run(['/usr/bin/env'], {
      policy: { environment: ['WANTED', 'FIXED=value'] },
      hostEnvironment: { WANTED: 'yes', UNWANTED: 'no', LD_PRELOAD: '/nowhere.so', FIXED: 'other' },
    })
    const names = call.stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('=')[0])
    expect(call.stdout).toContain('WANTED=yes\n')
    expect(call.stdout).toContain('FIXED=value\n')
    expect(names).not.toContain('UNWANTED')
    expect(names).not.toContain('LD_PRELOAD')
    expect(call.stdout).not.toContain(MARK)
  })

  test('cannot use leaked descriptors without close-on-exec', inMainCells(cell), async () => {
    const { file, root } = playground()
    const secret = file('secret')
    const request = join(root, 'request.json')
    writeFileSync(
      request,
      JSON.stringify({
        form: cell.form,
        backend: cell.backend,
        argv: [...programs.command('environment'), MARK],
        read: [programs.folder],
      } satisfies HostRequest),
    )
    // Descriptors that nobody marked to be closed. Node itself closes low numbers to its children, not these.
    const host = spawn(
      '/bin/bash',
      [
        '-c',
        'exec 98<"$1" 251>>"$2"; exec "$3" "$4" "$5"',
        'bash',
        secret,
        join(root, 'log'),
        process.execPath,
        hostScript(root),
        request,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const output = await text(host.stdout)
    const routes = parseRoutes(output)
    expectRefused(routes)
    expect(output).not.toContain('SECRET')
  })

  test('leaves no core file when it crashes', async () => {
    const { inside } = playground()
    const call = await cell.run(['/bin/sh', '-c', 'ulimit -c unlimited; kill -SEGV $$'], {
      policy: { filesystem: { write: [inside] } },
      cwd: inside,
    })
    expect(call.result).toMatchObject({ status: 'signaled', signal: 11 })
    expect(readdirSync(inside)).toEqual([])
    expect(existsSync(join(inside, 'core'))).toBe(false)
  })

  test('the core file exists without a cell', ({ skip }) => {
    const pattern = execFileSync('cat', ['/proc/sys/kernel/core_pattern'], { encoding: 'utf8' }).trim()
    if (pattern !== 'core') skip(`the host's core_pattern is ${pattern}`)
    const { inside } = playground()
    try {
      execFileSync('/bin/sh', ['-c', 'ulimit -c unlimited; kill -SEGV $$'], { cwd: inside, stdio: 'ignore' })
    } catch {
      // Killed, as intended.
    }
    expect(readdirSync(inside)).not.toEqual([])
  })
})

describeCells('a tool and processes outside', (cell) => {
  // Without a pid namespace the numbers of other processes mean something; these tell no more than that one exists.
  const EXISTENCE =
    cell.form === 'landlock'
      ? {
          'getsid': 'tells that a process exists',
          'f-setown': 'may be asked for; the signal itself is dropped, as the victim shows',
        }
      : {}

  test('cannot signal, trace, read, change or borrow from another process of the same user', async () => {
    const { file } = playground()
    const victim = await startVictim(file('secret'))
    const call = await cell.attack('other-processes', [String(victim.pid), victim.address, String(victim.fd)])
    expect(await victim.state()).toEqual({ signals: 0, memory: 'SECRET in memory' })
    expectHeld(call, EXISTENCE)
  })

  test('cannot do so to a process of another concurrent call', async () => {
    const { file, folder } = playground()
    const secret = file('other/secret')
    const policy = { filesystem: { read: [folder('other')] } }
    let told = (_pid: { pid: number; address: string; fd: number }): void => undefined
    const place = new Promise<{ pid: number; address: string; fd: number }>((resolve) => (told = resolve))
    const stop = new AbortController()
    const mark = newMark()
    const other = cell.call(['/bin/sh', '-c', `sleep 30 | "$@"`, 'sh', ...programs.command('victim'), secret, mark], {
      policy,
      signal: stop.signal,
      onStdout: (line) => {
        told(JSON.parse(line) as { pid: number; address: string; fd: number })
      },
    })
    const { address, fd } = await place
    const [pid] = (await untilRunning(mark)).slice(-1)
    const call = await cell.attack('other-processes', [String(pid), address, String(fd)])
    stop.abort()
    await other
    expectHeld(call, EXISTENCE)
  })

  test('can signal and watch its own children', async () => {
    const script =
      'import os, signal, time; p = os.fork()\nif p == 0: time.sleep(30)\nos.kill(p, signal.SIGTERM); ' +
      'print(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))'
    expect((await cell.run(['/usr/bin/python3', '-c', script])).stdout).toBe('-15\n')
  })

  test('can read about itself in /proc', async () => {
    const call = await cell.run([
      '/usr/bin/python3',
      '-c',
      'import os; print(len(open("/proc/self/stat").read()) > 0, "0" in os.listdir("/proc/self/fd"))',
    ])
    expect(call.stdout).toBe('True True\n')
  })
})
