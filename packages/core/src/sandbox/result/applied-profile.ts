// The boundary of a cell as the launcher reports it, compared with its plan and with the permit of its call. Limits,
// filter, privileges and network namespace are asked of the kernel. Mounts and rules are counted beside the system
// calls that made them.
import type { AbsolutePath, Boundary, Form } from '../../policy/index.js'
import { isWithinPath, isWritable } from '../../policy/index.js'

import { realPathOf } from '../grants/object-at.js'
import type { AppliedSum } from '../plan/encode-plan.js'
import type { PlannedCell } from '../plan/planned-cell.js'
import type { Plan, Step } from '../plan/plan.js'
import type { AppliedEvent } from './events.js'

export interface AppliedProfile extends Pick<AppliedEvent, 'network' | 'open_files' | 'file_size' | 'cpu_seconds'> {
  readonly form: Form | 'seatbelt'
  /** Everything that the tool can change, except its private folder and devices. */
  readonly writable: readonly AbsolutePath[]
  readonly startsAnyProgram: boolean
}

export const appliedProfile = (
  { network, open_files, file_size, cpu_seconds }: AppliedEvent,
  { plan, wallSteps }: Pick<PlannedCell, 'plan' | 'wallSteps'>,
): AppliedProfile => ({
  network,
  open_files,
  file_size,
  cpu_seconds,
  form: plan.form,
  writable: writableIn(plan, wallSteps),
  startsAnyProgram: plan.exec.kind === 'all',
})

const writableIn = ({ steps, rules, kept, temporary }: Plan, wallSteps: readonly Step[]): readonly AbsolutePath[] => {
  const own = [temporary, DEVICES, ...wallSteps.flatMap(({ kind, path }) => (kind === 'scratch' ? [path] : []))]
  const mounted = steps.flatMap((step) => (step.kind === 'bind' && step.access.includes('w') ? [step.path] : []))
  const ruled = rules.flatMap(({ access, path }) => (access.includes('w') ? [path] : []))
  return [...new Set([...mounted, ...ruled, ...kept.roots])].filter(
    (path) => !own.some((folder) => isWithinPath(path, folder)),
  )
}

const DEVICES = '/dev' as AbsolutePath

/** How the launcher departed from its plan. */
export const departureFromPlan = (event: AppliedEvent, planned: AppliedSum): string | undefined => {
  if (event.mounts !== planned.mounts) return `it made ${event.mounts} mounts instead of ${planned.mounts}`
  if (event.rules !== planned.rules) return `it made ${event.rules} Landlock rules instead of ${planned.rules}`
  if (event.sum !== planned.sum) return 'its mounts or Landlock rules are others than planned'
  if (!event.filtered) return 'no seccomp filter is in force'
  if (!event.unprivileged) return 'the tool has privileges, or could get some'
  return undefined
}

/** What a cell can do beyond the boundary that was permitted. */
export const beyondPermit = (applied: AppliedProfile, boundary: Boundary): string | undefined => {
  const { limits, network, exec } = boundary
  if (network.kind !== 'all' && applied.form !== 'landlock' && applied.network === 'shared')
    return 'it shares the network of the host'
  if (applied.startsAnyProgram && exec.kind !== 'all') return 'it can start any program'
  if (isHigher(applied.open_files, limits.openFiles)) return 'it can open more files'
  if (isHigher(applied.file_size, limits.fileSize)) return 'it can make larger files'
  // The kernel counts whole seconds, and the supervisor ends the call before it does.
  if (limits.cpu !== undefined && isHigher(applied.cpu_seconds, Math.ceil(limits.cpu / 1000) + 2))
    return 'it has more processor time'
  const root = applied.writable.find((path) => !isWritable(boundary, path) && !isInRealRoot(boundary, path))
  return root === undefined ? undefined : `it can write to ${root}`
}

/** 0 is no limit. */
const isHigher = (applied: number, limit: number | undefined): boolean =>
  limit !== undefined && (applied === 0 || applied > Math.ceil(limit))

/** A grant may lead through a link of the system, such as /var/run. */
const isInRealRoot = ({ write }: Boundary, path: AbsolutePath): boolean =>
  write.some(({ negated, base }) => {
    const real = negated ? undefined : realPathOf(base)
    return real !== undefined && isWithinPath(path, real)
  })
