// A launcher may enter its namespaces before its plan arrives. It accepts only the announced kind of plan, and ends
// with its host.
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import type { Duplex } from 'node:stream'

import { describe, expect, test, vi } from 'vitest'
import type { TestContext } from 'vitest'

import { path } from '../policy/places.js'
import { needs } from '../../../../test/requirement.js'

import { onEvent, startLauncher, tell, tellPlan } from './launcher-line.js'
import type { CellEvent, Plan } from './launcher-line.js'
import { planWith } from './plans.js'

const PLAN = planWith({ cwd: path('/'), rules: [{ access: 'l', path: path('/') }], probe: true })

const startAhead = (network: 'none' | 'all'): Duplex => {
  const launcher = startLauncher()
  tell(launcher, 'headStart', Buffer.from(network))
  return launcher
}

/** The first event of a launcher that was told `network`, and then given this plan. */
const answerTo = async (network: 'none' | 'all', plan: Plan): Promise<CellEvent | undefined> => {
  const launcher = startAhead(network)
  let first: CellEvent | undefined
  onEvent(launcher, (event) => {
    first ??= event
    launcher.end()
  })
  tellPlan(launcher, plan)
  await once(launcher, 'close')
  return first
}

const needsNamespaces = async (context: TestContext): Promise<void> => {
  const event = await answerTo('none', PLAN)
  needs(context, event?.event !== 'error' || event.stage !== 'user-namespace', 'this host refuses user namespaces')
}

const childrenOf = (parent: number): readonly number[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent)

const parentOf = (pid: number): number | undefined => {
  try {
    return Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

describe('a head start', () => {
  test('gives the same result as none, for the announced plan', async (context) => {
    await needsNamespaces(context)
    expect(await answerTo('none', PLAN)).toMatchObject({ event: 'applied' })
    expect(await answerTo('all', { ...PLAN, network: 'all' })).toMatchObject({ event: 'applied' })
  })

  test.each<{ readonly what: string; readonly changes: Partial<Plan> }>([
    { what: 'of the other form', changes: { form: 'landlock' } },
    { what: 'with another network', changes: { network: 'all' } },
    { what: 'with a cgroup', changes: { cgroup: path('/sys/fs/cgroup') } },
    { what: 'with other streams', changes: { stdio: { ...PLAN.stdio, in: 'direct' } } },
  ])('refuses a plan $what', async ({ changes }) => {
    expect(await answerTo('none', { ...PLAN, ...changes })).toMatchObject({
      event: 'error',
      stage: expect.stringMatching(/^(plan|user-namespace)$/) as string,
    })
  })

  test('leaves nothing behind if no plan arrives', async (context) => {
    await needsNamespaces(context)
    await vi.waitFor(() => {
      expect(childrenOf(process.pid)).toEqual([])
    }, 60_000)
    const launcher = startAhead('none')
    const [supervisor = 0, keeper = 0] = await vi.waitFor(() => {
      const found = childrenOf(process.pid).flatMap((pid) => [pid, ...childrenOf(pid)])
      expect(found).toHaveLength(2)
      return found
    }, 60_000)
    launcher.destroy()
    await vi.waitFor(() => {
      expect([parentOf(supervisor), parentOf(keeper)]).toEqual([undefined, undefined])
    }, 60_000)
  })
})
