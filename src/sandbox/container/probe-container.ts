// Finds out what a cell inside a container can enforce, by building one there.
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'

import type { Attempt, HostFacts } from '../host.js'
import { PROBE_STATUSES, SIGNALS_ARE_SCOPED } from '../host.js'
import { openCell } from '../launch/cell.js'
import { encodePlan } from '../plan/encode-plan.js'
import { rule } from '../plan/layout.js'
import { ALL_FRAMES, NOTHING_KEPT } from '../plan/plan.js'
import type { Plan } from '../plan/plan.js'
import type { Hello } from './hello.js'
import { TEMPORARY } from './plan-container.js'
import type { StartedContainer } from './start-container.js'

const HELD: Attempt = { held: true }
const refused = (stage: string, problem: string) => ({ held: false, stage, problem }) as const

/** The container serves this alone, and is removed. */
export const probeContainer = async (container: StartedContainer, launcher: string): Promise<HostFacts> => {
  try {
    const hello = await container.hello
    const cell = openCell({ connection: container.cell, wall: undefined }, encodePlan(probePlan(hello)))
    const { landlock, exit, measurable } = await cell.start(
      { program: '/' as AbsolutePath, argv: ['-'], environment: {} },
      undefined,
      { onStdout: ignore, onStderr: ignore },
    )
    const status = PROBE_STATUSES[exit.code]
    if (status === undefined || status === 'memory-unreadable') throw missing(`its probe ended with ${exit.code}`)
    if (landlock < SIGNALS_ARE_SCOPED && !measurable) throw missing('processes of a call could not all be ended')
    const inContainer = refused('container', 'the container has them, and the cell in it needs none of its own')
    return {
      launcher,
      namespaces: inContainer,
      mounts: inContainer,
      ownProc: inContainer,
      landlock: { ...HELD, abi: landlock },
      listener: HELD,
      nesting: inContainer,
      borrowing: status === 'held' ? HELD : refused('keeper', 'pidfd_getfd is refused'),
      cgroup: refused('cgroup', 'the engine limits the container'),
      measuring: measurable ? HELD : refused('supervise', '/proc does not show the processes of a cell'),
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

const ignore = () => undefined

const probePlan = ({ entries }: Hello): Plan => ({
  form: 'landlock',
  steps: [],
  rules: entries.filter(({ path }) => path === '/etc' || path === '/usr').map(({ path }) => rule('rx', path)),
  kept: NOTHING_KEPT,
  exec: { kind: 'all' },
  cwd: '/' as AbsolutePath,
  cgroup: undefined,
  temporary: TEMPORARY,
  network: 'none',
  limits: { scratch: 1 << 20 },
  traps: ['connect'],
  stdio: ALL_FRAMES,
  foreground: false,
  clock: 'start',
  relay: 'gathered',
  probe: true,
})
