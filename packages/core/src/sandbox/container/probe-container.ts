// Finds out what a cell inside a container can enforce, by building one there.
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'

import { PROBE_STATUSES, endsAllProcesses, probePlan, runProbe } from '../host/probe-cell.js'
import { SUCCEEDED, failedAt } from '../plan/host-facts.js'
import type { HostFacts } from '../plan/host-facts.js'
import { rule } from '../plan/layout.js'
import type { Rule } from '../plan/plan.js'
import type { Hello } from './hello.js'
import { TEMPORARY } from './plan-container.js'
import type { StartedContainer } from './start-container.js'

/** The container serves this alone, and is removed. */
export const probeContainer = async (container: StartedContainer, launcher: string): Promise<HostFacts> => {
  try {
    const hello = await container.hello
    const probed = await runProbe(
      { connection: container.cell, wall: undefined },
      probePlan('landlock', { rules: rulesIn(hello), temporary: TEMPORARY, traps: ['connect'] }),
    )
    const status = PROBE_STATUSES[probed.status]
    if (status === undefined || status === 'memory-unreadable') throw missing(`its probe ended with ${probed.status}`)
    if (!endsAllProcesses(probed)) throw missing('processes of a call could not all be ended')
    const inContainer = failedAt('container', 'the container has them, and the cell in it needs none of its own')
    return {
      launcher,
      namespaces: inContainer,
      mounts: inContainer,
      ownProc: inContainer,
      landlock: { ...SUCCEEDED, abi: probed.abi },
      listener: SUCCEEDED,
      nesting: inContainer,
      borrowing: status === 'held' ? SUCCEEDED : failedAt('keeper', 'pidfd_getfd is refused'),
      cgroup: failedAt('cgroup', 'the engine limits the container'),
      measuring: probed.measurable ? SUCCEEDED : failedAt('supervise', '/proc does not show the processes of a cell'),
      kernelSecrets: [],
      isRoot: hello.uid === 0,
      identity: undefined,
      wall: undefined,
      passedOver: [],
      temporaryFolder: TEMPORARY,
    }
  } catch (error) {
    throw isSetupFailure(error) ? missing(error.message, error) : error
  } finally {
    await container.remove()
  }
}

const isSetupFailure = (error: unknown): error is CordonError =>
  (error as { readonly code?: unknown }).code === 'setup-failed'

const missing = (problem: string, cause?: unknown): CordonError =>
  fail(
    'host-cannot-hold',
    {
      mechanism: 'landlock and a seccomp listener in a container',
      problem,
      fix: 'use an engine whose seccomp profile permits seccomp() and landlock_*() (the defaults of Podman 4 and Docker 23 do)',
    },
    cause,
  )

const rulesIn = ({ entries }: Hello): readonly Rule[] =>
  entries.filter(({ path }) => path === '/etc' || path === '/usr').map(({ path }) => rule('rx', path))
