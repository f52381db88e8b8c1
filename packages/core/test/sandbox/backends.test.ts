import { describe, expect, test } from 'vitest'

import type { WallName } from '../../src/policy/index.js'
import { openBackends } from '../../src/sandbox/backends.js'
import type { Backend, Openers } from '../../src/sandbox/backends.js'
import { createPlanner } from '../../src/sandbox/plan/planner.js'
import { bubblewrap } from '../../src/sandbox/walls/bubblewrap.js'
import { firejail } from '../../src/sandbox/walls/firejail.js'
import { hostWith, notHeld } from './host-facts.js'

const NO_NAMESPACES = hostWith({ namespaces: notHeld('AppArmor') })
const FREE = { require: [], network: { kind: 'none' as const } }
const MAKERS = { bubblewrap, firejail }

const openersFor = (native: ReturnType<typeof hostWith>, walls: readonly WallName[], tried: WallName[]): Openers => {
  const backend = (host: Backend['host']): Backend => ({
    host,
    planner: createPlanner(host),
    launch: () => {
      throw new Error('nothing is started here')
    },
  })
  return {
    native: (passedOver) => backend({ ...native, passedOver }),
    tryWall: (name) => {
      tried.push(name)
      const wall = MAKERS[name](`/usr/bin/${name}`, '/cordon-cell')
      return Promise.resolve(
        walls.includes(name)
          ? { held: true, wall, host: hostWith({ namespaces: notHeld('inside'), wall }) }
          : { held: false, reason: 'not installed' },
      )
    },
    walled: ({ host }, passedOver) => backend({ ...host, passedOver }),
  }
}

describe('auto', () => {
  test('tries no wall where native namespaces hold', async () => {
    const tried: WallName[] = []
    const host = hostWith()
    const { strongest } = await openBackends('auto', 'auto', host, openersFor(host, ['bubblewrap', 'firejail'], tried))
    expect({ wall: strongest.host.wall, tried }).toEqual({ wall: undefined, tried: [] })
  })
  test('takes bubblewrap where the launcher gets no namespaces, and says why', async () => {
    const openers = openersFor(NO_NAMESPACES, ['bubblewrap'], [])
    const { host } = await (await openBackends('auto', 'auto', NO_NAMESPACES, openers)).pick(FREE, 'auto')
    expect(host.wall?.name).toBe('bubblewrap')
    expect(host.passedOver).toEqual([{ backend: 'native', reason: 'namespaces: somewhere: AppArmor' }])
  })
  test('takes the landlock form before firejail, and firejail for a namespace that is required', async () => {
    const openers = openersFor(NO_NAMESPACES, ['firejail'], [])
    const { pick } = await openBackends('auto', 'auto', NO_NAMESPACES, openers)
    expect((await pick(FREE, 'auto')).host.wall).toBeUndefined()
    expect((await pick({ ...FREE, require: ['pid-namespace'] }, 'auto')).host.wall?.name).toBe('firejail')
    expect((await pick({ ...FREE, require: ['mount-namespace'] }, 'auto')).host.wall).toBeUndefined()
  })
  test('passes no wall over for a call that asks for a form', async () => {
    const openers = openersFor(NO_NAMESPACES, ['bubblewrap'], [])
    const { pick } = await openBackends('auto', 'auto', NO_NAMESPACES, openers)
    expect((await pick(FREE, 'landlock')).host.passedOver).toEqual([])
    expect((await pick({ ...FREE, require: ['cgroup'] }, 'auto')).host.passedOver).not.toEqual([])
  })
})

test('a wall that was asked for by name and does not start is refused', async () => {
  const host = hostWith()
  await expect(openBackends('bubblewrap', 'auto', host, openersFor(host, [], []))).rejects.toMatchObject({
    code: 'host-cannot-hold',
  })
})
