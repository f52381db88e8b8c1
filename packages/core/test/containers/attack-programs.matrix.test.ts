// The attack programs inside containers of a real engine: that of root, and a rootless one of another user.
import { afterAll, beforeEach, describe, expect, test } from 'vitest'

import { callsIn, expectHeld, mustRun } from '../attacks/harness.js'
import type { Call } from '../attacks/harness.js'
import { playground } from '../attacks/playground.js'
import { attackNames } from '../attacks/programs.js'
import { newMark, survivorsOf } from '../attacks/survivors.js'
import { containerCandidate } from '../conformance/containers.js'
import { needs } from '../../../../test/requirement.js'

import { ATTACKS, MASKED } from './attack-table.js'
import type { Ground } from './attack-table.js'
import { ENGINE_KIND, engineProblem, startEngine } from './engine.js'
import { hostImage } from './host-image.js'

const problem = engineProblem()
const engine = problem === undefined ? await startEngine() : undefined
const image = engine === undefined ? '' : hostImage(engine)
const source = { name: '', missing: problem, socket: engine?.socket ?? '', image, processes: () => [] }
const backend = engine === undefined ? undefined : await containerCandidate(source, {}).open()
afterAll(() => backend?.close())

beforeEach((context) => {
  needs(context, backend !== undefined, problem ?? '')
})

const { attack, run } = callsIn(async (request) => {
  if (backend === undefined) throw new Error('no engine')
  return backend.run(request)
}, 'landlock')

const attackOn = (program: string, { args, policy = {}, hostEnvironment = {} }: Ground) =>
  attack(program, args, { policy, hostEnvironment })

describe(`a program in a container (${ENGINE_KIND})`, () => {
  for (const { program, cannot, on, can, twin } of ATTACKS) {
    test(`cannot ${cannot}`, async () => {
      const ground = await on(playground())
      const before = await ground.state?.()
      const call = await attackOn(program, ground)
      expect(await ground.state?.()).toEqual(ground.then ?? before)
      expectHeld(call, ground.except)
    })

    test(`can ${can}`, async () => {
      if (typeof twin === 'string') {
        expect((await run(['/usr/bin/python3', '-c', twin])).stdout.trim()).toBe('ok')
        return
      }
      const { routes } = mustRun(await attackOn(program, twin(playground())))
      expect(routes.filter(({ outcome }) => outcome === 'escaped')).not.toEqual([])
    })
  }
})

test(`a program in a container (${ENGINE_KIND}) reads nothing from files that its engine masks`, async () => {
  const { stdout } = await run(['/bin/sh', '-c', 'head -c 99 "$@" 2> /dev/null; echo end', 'sh', '-q', ...MASKED])
  expect(stdout).toBe('end\n')
})

const BOMBS = [
  ...['fork', 'orphans', 'threads', 'starved'].map((kind) => ({
    program: 'process-bomb',
    kind,
    sizes: ['200', '20'] as const,
    limit: 'processes',
    limits: { processes: 40 },
  })),
  ...['anonymous', 'shared', 'memfd', 'page-tables', 'children', 'in-flight'].map((kind) => ({
    program: 'memory-bomb',
    kind,
    sizes: ['384', '8'] as const,
    limit: 'memory',
    limits: { memory: '64M' },
  })),
  ...['cpu', 'cpu-setsid', 'cpu-children', 'cpu-orphans', 'cpu-threads'].map((kind) => ({
    program: 'burn',
    kind,
    sizes: ['6', '0.05'] as const,
    limit: 'cpu',
    limits: { cpu: '500ms' },
  })),
]

const bombIn = (bomb: (typeof BOMBS)[number], size: string, mark: string): Promise<Call> =>
  attack(bomb.program, [bomb.kind, size, mark], { policy: { limits: { ...bomb.limits, wall: '60s' } } })

describe(`a bomb in a container (${ENGINE_KIND})`, () => {
  test.for(BOMBS)('is stopped at its limit and reported ($program $kind)', async (bomb) => {
    const mark = newMark()
    const { result, routes } = mustRun(await bombIn(bomb, bomb.sizes[0], mark))
    const violations = result.violations.map(({ kind }) => kind)
    // The memory limit of the container may be reached first. Then the kernel kills a process of the tool.
    if (bomb.limit === 'memory' && !violations.includes('memory'))
      expect(routes.filter(({ outcome }) => outcome === 'escaped')).toEqual([])
    else expect(violations).toContain(bomb.limit)
    expect(await survivorsOf(mark)).toEqual([])
  })

  test('of processes whose end nobody asks for is stopped by the wall clock', async () => {
    const mark = newMark()
    const policy = { limits: { wall: '2s' } }
    const { result } = mustRun(await attack('burn', ['cpu-ignored', '600', mark], { policy }))
    expect(result).toMatchObject({ status: 'limit', limit: 'wall' })
    expect(await survivorsOf(mark)).toEqual([])
  })

  test.for(BOMBS.filter(({ kind }) => kind !== 'starved'))(
    'is allowed as long as it stays within its limit ($program $kind)',
    async (bomb) => {
      const { result, routes } = mustRun(await bombIn(bomb, bomb.sizes[1], newMark()))
      expect(routes).toMatchObject([{ outcome: 'escaped' }])
      expect(result.violations).toEqual([])
    },
  )
})

describe(`the end of a call in a container (${ENGINE_KIND})`, () => {
  test.for(['double-fork', 'single-fork', 'same-session', 'subreaper', 'stopped', 'runs-away'])(
    'leaves no daemon (%s)',
    async (kind) => {
      const mark = newMark()
      const call = mustRun(await attack('daemon', [kind, mark], { policy: { limits: { wall: '60s' } } }))
      expect(call).toMatchObject({ stdout: 'left running\n', result: { status: 'exited', exitCode: 0 } })
      expect(await survivorsOf(mark)).toEqual([])
    },
  )

  test('cannot be forged by a report', async () => {
    const { result } = mustRun(await attack('forge-report', []))
    expect(result).toMatchObject({ status: 'exited', exitCode: 7, violations: [] })
  })

  test('is noticed under a flood of interrupted notifications', async () => {
    const { result } = mustRun(await attack('notify-flood', ['1500'], { policy: { limits: { wall: '60s' } } }))
    expect(result).toMatchObject({ status: 'exited', exitCode: 9 })
  })

  test('comes while connections are pending', async () => {
    const { inside } = playground()
    const limits = { processes: 30, wall: '60s' }
    const policy = { filesystem: { write: [inside] }, limits }
    expect(mustRun(await attack('blocked-connects', [inside, '300'], { policy })).stdout).toContain('asked\n')
  })

  test('is reported with the exit status of a program that does nothing of this', async () => {
    expect((await run(['/bin/sh', '-c', 'exit 7'])).result).toMatchObject({ status: 'exited', exitCode: 7 })
  })
})

/** Programs that are about something that a call in a container does not have. */
const NOT_EXPRESSED: Readonly<Record<string, string>> = {
  'exec-policy': 'a list of programs is refused for a container',
  'reused-sockets': 'it needs a granted service on the host itself, and a container reaches granted hosts by the proxy',
  'stdio': 'a container gets no descriptor of its caller',
  'climb-out': 'it needs a folder that is moved out of a write root, which the mount of the container keeps',
}

test('every attack program is tried in a container, or there is a reason not to', () => {
  const tried = new Set([
    ...ATTACKS.map(({ program }) => program),
    ...BOMBS.map(({ program }) => program),
    ...['daemon', 'forge-report', 'notify-flood', 'blocked-connects'],
    ...Object.keys(NOT_EXPRESSED),
  ])
  expect(attackNames().filter((name) => !tried.has(name))).toEqual([])
})
