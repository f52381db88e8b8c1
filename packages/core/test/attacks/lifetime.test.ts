import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { afterEach, expect, test } from 'vitest'

import { inMainCells, programs } from './harness.js'
import type { Cell } from './harness.js'
import { hostScript } from './host-script.js'
import type { HostRequest } from './host-script.js'
import { playground } from './playground.js'
import { newMark, survivorsOf, untilRunning } from './survivors.js'
import { describeCells } from './walled.js'

const DAEMONS = ['double-fork', 'single-fork', 'same-session', 'holds-stdout', 'subreaper', 'stopped', 'runs-away']

const hosts: ChildProcess[] = []
afterEach(() => {
  for (const host of hosts.splice(0)) host.kill('SIGKILL')
})

/** A host program of its own that makes one call; returns when the tool of that call runs. */
const hostWithCall = async (
  folder: string,
  { form, backend }: Cell,
  argv: readonly string[],
  mark: string,
): Promise<ChildProcess> => {
  const request: HostRequest = { form, backend, argv, read: [programs.folder] }
  const path = join(folder, 'request.json')
  writeFileSync(path, JSON.stringify(request))
  const host = spawn(process.execPath, [hostScript(folder), path], { stdio: ['ignore', 'ignore', 'inherit'] })
  hosts.push(host)
  await untilRunning(mark)
  return host
}

const parentOf = (pid: number): number => {
  const line = readFileSync(`/proc/${String(pid)}/stat`, 'latin1')
  return Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[1])
}

/** Every process above the tool, up to the host program and without it. */
const between = (tool: number, host: number): readonly number[] => {
  const found: number[] = []
  for (let pid = parentOf(tool); pid > 1 && pid !== host; pid = parentOf(pid)) found.push(pid)
  return found
}

const processesNamed = (name: string): readonly string[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === name
      } catch {
        return false
      }
    })

const isOrphan = (pid: string): boolean => {
  try {
    return parentOf(Number(pid)) === 1
  } catch {
    return false
  }
}

/** Leaves one daemon of each kind, and then does something else. */
const leaveEach = (kinds: readonly (readonly [kind: string, mark: string])[], then: string): readonly string[] => [
  '/bin/sh',
  '-c',
  [...kinds.map(([kind, mark]) => `'${programs.command('daemon')[0]}' ${kind} ${mark}`), then].join('; '),
]

/** Each kind with a mark of its own. */
const markedDaemons = () => DAEMONS.map((kind) => [kind, newMark()] as const)

const expectNoDaemon = async (daemons: ReturnType<typeof markedDaemons>): Promise<void> => {
  for (const [kind, mark] of daemons) expect(await survivorsOf(mark), kind).toEqual([])
}

describeCells('after a call', (cell) => {
  test(`no daemon is left (${DAEMONS.join(', ')})`, async () => {
    const daemons = markedDaemons()
    const call = await cell.call(leaveEach(daemons, 'exit'), { policy: { limits: { wall: '30s' } } })
    expect(call).toMatchObject({ kind: 'ran', stdout: 'left running\n'.repeat(DAEMONS.length) })
    expect(call).toMatchObject({ result: { status: 'exited', exitCode: 0 } })
    await expectNoDaemon(daemons)
  })

  test('no daemon is left if the call is cancelled', async () => {
    const daemons = markedDaemons()
    const stop = new AbortController()
    const call = cell.call(leaveEach(daemons, 'echo all; sleep 60'), {
      signal: stop.signal,
      onStdout: (text) => {
        if (text.includes('all')) stop.abort()
      },
    })
    expect(await call).toMatchObject({ kind: 'refused', error: { code: 'cancelled' } })
    await expectNoDaemon(daemons)
  })

  test('no daemon is left if the host process is killed, and not even the launcher', async () => {
    const { root } = playground()
    const daemons = markedDaemons()
    const last = newMark()
    const before = new Set(processesNamed('cordon-cell'))
    const host = await hostWithCall(root, cell, leaveEach(daemons, `sleep 61 ${last} || sleep 61`), last)
    host.kill('SIGKILL')
    await expectNoDaemon(daemons)
    expect(await survivorsOf(last)).toEqual([])
    // Other tests run at the same time, and theirs end too: whatever is here now must be gone in a while.
    let left = processesNamed('cordon-cell').filter((pid) => !before.has(pid) && isOrphan(pid))
    for (let look = 0; look < 100 && left.length > 0; look += 1) {
      await wait(100)
      left = left.filter(isOrphan)
    }
    expect(left).toEqual([])
  })

  test("nothing is left if a process of the cell's launcher is killed", inMainCells(cell), async () => {
    const { root } = playground()
    // The call is a tree: the tool, what holds it, the host program. Each holder is killed once, in a fresh tree.
    for (let victim = 0, count = 1; victim < count; victim += 1) {
      const mark = newMark()
      const host = await hostWithCall(root, cell, [...programs.command('burn'), 'sleep', '61', mark], mark)
      const [tool] = await untilRunning(mark)
      const holders = between(tool ?? 0, host.pid ?? 0)
      count = holders.length
      const holder = holders[victim]
      expect(holder).toBeDefined()
      process.kill(holder ?? 0, 'SIGKILL')
      // The outermost may be what all calls of a host program have in common; then the call goes on, still held by the
      // others.
      if (victim < 2) expect(await survivorsOf(mark), `holder ${String(victim)} of ${String(count)} killed`).toEqual([])
      host.kill('SIGKILL')
      expect(await survivorsOf(mark), `holder ${String(victim)} of ${String(count)} and the host killed`).toEqual([])
    }
  })

  test('nothing is left if the host process is stopped by its terminal', inMainCells(cell), async () => {
    const { root } = playground()
    const mark = newMark()
    const host = await hostWithCall(root, cell, [...programs.command('burn'), 'sleep', '61', mark], mark)
    host.kill('SIGHUP')
    expect(await survivorsOf(mark)).toEqual([])
  })

  test('the call lasts as long as its first process', async () => {
    const call = await cell.run(['/bin/sh', '-c', '(sleep 0.2; echo child) & wait; echo parent'])
    expect(call.stdout).toBe('child\nparent\n')
  })

  test('output of a child before the end is not lost', async () => {
    const call = await cell.run(['/bin/sh', '-c', 'echo one; (echo two); echo three >&2'])
    expect([call.stdout, call.stderr]).toEqual(['one\ntwo\n', 'three\n'])
  })
})
