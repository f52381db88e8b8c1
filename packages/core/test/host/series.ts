// Long series of served runs: what stays of ten thousand, and what hundreds of kills leave behind.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { FRONT, frontPlace, hostStarted, hostState } from './front.js'

const RUNS = 10_000
const CLIENTS = 4
const KILLS = 300
/** A busy machine takes several times as long as a quiet one. */
const LONGEST_MS = 30 * 60_000

const place = frontPlace()

/** In the file of the other tests of the host: it is one process, and others stop it. */
export const testSeries = (): void => {
  describe('series', { tags: ['matrix'], timeout: LONGEST_MS }, tests)
}

/** Null for a signal. */
const statusOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    child.once('close', resolve)
  })

const start = (...words: readonly string[]): ChildProcess =>
  spawn(FRONT, ['run', ...words], { cwd: place.folder, env: place.environment, stdio: 'ignore' })

const childrenOf = (pid: number): readonly number[] => {
  try {
    return readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8')
      .split(' ')
      .map(Number)
      .filter(Boolean)
  } catch {
    return []
  }
}

/** Proportional set size, in MiB. */
const memoryOf = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${String(pid)}/smaps_rollup`, 'utf8'))?.[1]) / 1024

const descriptorsOf = (pid: number): number => readdirSync(`/proc/${String(pid)}/fd`).length

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const verifyLog = (): void => {
  const { status, stdout, stderr } = spawnSync(FRONT, ['log', 'verify'], { env: place.environment, encoding: 'utf8' })
  expect({ status, said: stdout + stderr }).toMatchObject({ status: 0 })
}

const tests = (): void => {
  test(`${String(RUNS)} runs of ${String(CLIENTS)} clients have their own status and record, and leave nothing in the host`, async () => {
    const { pid } = await hostStarted(place)
    // The door, and perhaps a watcher.
    const children = childrenOf(pid)
    const [door = 0] = children
    const before = { served: hostState()?.served ?? 0, events: place.log().length }
    let [next, wrong, warm] = [0, 0, 0]
    const known = { host: 0, door: 0 }
    const client = async (): Promise<void> => {
      for (let number = (next += 1); number <= RUNS; number = next += 1) {
        const expected = number % 7
        if ((await statusOf(start('--', '/bin/sh', '-c', `exit ${String(expected)}`))) !== expected) wrong += 1
        if (number !== RUNS / 5) continue
        warm = memoryOf(pid)
        ;[known.host, known.door] = [descriptorsOf(pid), descriptorsOf(door)]
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    await expect.poll(() => hostState()?.serving).toBe(0)
    expect(wrong).toBe(0)
    // On a busy machine some do not wait for the host.
    expect((hostState()?.served ?? 0) - before.served).toBeGreaterThan(RUNS * 0.95)
    // While four runs were served there were more.
    expect(descriptorsOf(pid)).toBeLessThanOrEqual(known.host)
    expect(descriptorsOf(door)).toBeLessThanOrEqual(known.door)
    expect(childrenOf(pid)).toEqual(children)
    expect(memoryOf(pid)).toBeLessThan(warm + 40)
    const events = place.log().slice(before.events)
    const ended = events.filter(({ type }) => type === 'tool.completed')
    expect(ended).toHaveLength(RUNS)
    expect(events.filter(({ type }) => type === 'permission.evaluated')).toHaveLength(RUNS)
    verifyLog()
  })

  test(`${String(KILLS)} kills of host, door, client and cell at any moment lose and leave nothing, and run nothing twice`, async () => {
    const made = join(place.folder, 'made')
    writeFileSync(made, '')
    const mark = `97${String(process.pid)}`
    const seen: Record<string, number> = {}
    for (let round = 0; round < KILLS; round += 1) {
      const { pid: host } = await hostStarted(place)
      const [door = 0] = childrenOf(host)
      const name = `made-${String(round)}-`
      const script = `echo ${name} >> made; sleep 0.0${mark}; exit 5`
      const caller = start('--write', './**', '--', '/bin/sh', '-c', script)
      const ended = statusOf(caller)
      const { pid: front = 0 } = caller
      await pause(Math.random() * 40)
      const target = (['host', 'door', 'client', 'cell'] as const)[round % 4] ?? 'host'
      const victim = { host, door, client: front, cell: childrenOf(front)[0] ?? 0 }[target]
      try {
        if (victim > 0) process.kill(victim, 'SIGKILL')
      } catch {
        // It has ended.
      }
      const status = await ended
      const times = readFileSync(made, 'utf8')
        .split('\n')
        .filter((line) => line === name).length
      const what = `${target} in round ${String(round)}: status ${String(status)}, run ${String(times)} times`
      expect(times, what).toBeLessThanOrEqual(1)
      expect([5, 125, null], what).toContain(status)
      // A caller that lives says 5 only of a command that ran to its end, and a killed one says nothing.
      if (status === 5) expect(times, what).toBe(1)
      if (status === null) expect(target, what).toBe('client')
      seen[`${target} ${String(status)}`] = (seen[`${target} ${String(status)}`] ?? 0) + 1
    }
    // Each way was met: before the command began, and after it.
    expect(seen).toMatchObject({ 'host 5': expect.any(Number) as number, 'host 125': expect.any(Number) as number })
    await expect.poll(() => spawnSync('pgrep', ['-f', `sleep 0.0${mark}`]).status).toBe(1)
    await hostStarted(place)
    const called = new Set(
      place
        .log()
        .filter(({ type }) => type === 'tool.called')
        .flatMap((event) => JSON.stringify(event).match(/made-\d+-/g) ?? []),
    )
    const unrecorded = readFileSync(made, 'utf8')
      .split('\n')
      .filter((name) => name !== '' && !called.has(name))
    expect(unrecorded).toEqual([])
    verifyLog()
    expect(existsSync(join(place.folder, '.local/state/cordon/audit.jsonl.lock'))).toBe(false)
  })
}
