// A launcher that gets no memory ends and reports it. See "Without memory" in docs/inside/cell.md.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { Duplex } from 'node:stream'

import { describe, expect, test } from 'vitest'

import { TO_CELL, TO_WATCHER, encodeFrame } from '../../src/sandbox/frames.js'
import { findLauncher } from '../../src/sandbox/index.js'
import { encodeCommand } from '../../src/sandbox/plan/encode-plan.js'
import { catchAll, newMark, processesWith, survivorsOf } from '../attacks/survivors.js'
import { path } from '../policy/places.js'

import { onEvent, tell, tellPlan } from './launcher-line.js'
import { planWith } from './plans.js'

const ALL_MEMORY = 32 << 20
const TOO_MUCH = 60 << 20

/** How a launcher with little memory ended that heard of a frame of this size, and the stages it told before. */
const end = async (words: readonly string[], kind: Parameters<typeof encodeFrame>[0], size: number) => {
  const child = spawn('prlimit', [`--as=${String(ALL_MEMORY)}`, '--', findLauncher(), ...words], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const line = child.stdio[3] as Duplex
  const stages: string[] = []
  onEvent(line, (event) => {
    if (event.event === 'error') stages.push(event.stage)
    line.end()
  })
  line.on('error', () => undefined)
  const frame = encodeFrame(kind)
  frame.writeUInt32LE(size, 1)
  line.write(frame)
  if (size < ALL_MEMORY) line.end(Buffer.alloc(size))
  const [status, signal] = (await once(child, 'exit')) as [number | null, string | null]
  return { status, signal, stages }
}

describe('a frame that does not fit into memory', () => {
  test('ends a cell with an error of the stage `memory`', async () => {
    expect(await end([], TO_CELL.plan, TOO_MUCH)).toEqual({ status: 125, signal: null, stages: ['memory'] })
  })

  test('ends the watcher, which does not mistake it for the end of its host', async () => {
    expect(await end(['watcher'], TO_WATCHER.names, TOO_MUCH)).toEqual({ status: 125, signal: null, stages: [] })
  })
})

test('a frame that fits is read', async () => {
  expect(await end([], TO_CELL.plan, 1)).toEqual({ status: 125, signal: null, stages: ['plan'] })
})

const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'latin1')
    .trim()
    .split(' ')
    .map(Number)

/** A cell of the landlock form that runs processes with the mark, and whose supervisor gets no more memory. */
const cellWithoutMemory = async (mark: string) => {
  const child = spawn(findLauncher(), {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: { GLIBC_TUNABLES: 'glibc.malloc.top_pad=0' }, // asks for no more than it needs
  })
  const supervisor = child.pid ?? 0
  const line = child.stdio[3] as Duplex
  const plan = planWith({
    form: 'landlock',
    rules: [{ access: 'rx', path: path('/') }],
    cwd: path('/'),
    temporary: path(`/tmp/${mark}`),
  })
  const wait = `sh -c 'while sleep 1; do : ${mark}; done'`
  const script = `${wait} & (${wait} & setsid ${wait}) & ${wait}`
  const command = { program: path('/bin/sh'), argv: ['sh', '-c', script], environment: { PATH: '/usr/bin:/bin' } }
  line.on('error', () => undefined)
  tellPlan(line, plan)
  tell(line, 'command', encodeCommand(command))
  await expect.poll(() => processesWith(mark).length, { timeout: 10_000 }).toBeGreaterThan(3)
  execFileSync('prlimit', ['--pid', String(supervisor), '--as=1'])
  return { line, supervisor, ended: once(child, 'exit') }
}

describe('a supervisor that gets no memory', () => {
  test('ends the cell before it reports, and does not wait for the host to hear of it', async () => {
    const mark = newMark()
    const { line, ended } = await cellWithoutMemory(mark)
    const running = new Promise<readonly number[]>((resolve) => {
      onEvent(line, (event) => {
        if (event.event === 'error' && event.stage === 'memory') resolve(processesWith(mark))
      })
    })
    const input = encodeFrame(TO_CELL.input)
    input.writeUInt32LE(TOO_MUCH, 1)
    line.write(input)
    expect(await running).toEqual([])
    line.end()
    await ended
  })

  test('kills what its keeper left', async () => {
    const mark = newMark()
    const { line, supervisor, ended } = await cellWithoutMemory(mark)
    for (const keeper of childrenOf(supervisor)) process.kill(keeper, 'SIGKILL')
    const survivors = await survivorsOf(mark)
    await catchAll(mark)
    expect(survivors).toEqual([])
    line.destroy()
    await ended
    expect(existsSync(`/tmp/${mark}`)).toBe(false)
  })
})
