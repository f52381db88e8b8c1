// What the supervisor of a cell sees to: its limits, and the system calls that wait for the keeper's answer.
import { fail } from '../../errors/index.js'
import { DEFAULT_LIMITS } from '../../policy/index.js'
import type { Boundary, Form } from '../../policy/index.js'

import { FORM_HAS } from './host-facts.js'
import type { HostFacts } from './host-facts.js'
import type { Plan, Trap } from './plan.js'
import type { CellRequest } from './planned-cell.js'
import { hasOwnProc } from './requirements.js'

/** Of a call whose output is kept in memory. */
export const DEFAULT_OUTPUT_LIMIT = 64 * 1024 * 1024

export const withOutputLimit = (boundary: Boundary): Boundary =>
  boundary.limits.output === undefined
    ? { ...boundary, limits: { ...boundary.limits, output: DEFAULT_OUTPUT_LIMIT } }
    : boundary

/** Made only if needed, because it costs a fraction of a millisecond. */
export const cgroupOf = ({ limits, require }: Boundary, { cgroup }: HostFacts): Plan['cgroup'] =>
  cgroup.held && (limits.memory !== undefined || limits.processes !== undefined || require.includes('cgroup'))
    ? cgroup.parent
    : undefined

export const limitsOf = ({ limits }: Boundary, form: Form, host: HostFacts): Plan['limits'] => {
  refuseUnmeasurable(limits, form, host)
  if (limits.processes !== undefined && !host.listener.held && !host.cgroup.held) {
    throw fail('limit-unsupported', {
      limit: 'processes',
      problem: 'counting processes and threads needs a seccomp listener or a cgroup',
      fix: 'remove the limit, or run outside of another sandbox',
    })
  }
  return {
    scratch: DEFAULT_LIMITS.scratch,
    ...(limits.processes === undefined ? { userProcesses: DEFAULT_LIMITS.processes } : {}),
    ...limits,
  }
}

/** A sum over all processes of a call cannot be limited if they cannot be seen. */
const refuseUnmeasurable = (limits: Boundary['limits'], form: Form, { measuring, cgroup }: HostFacts): void => {
  if (measuring.held) return
  const summed = [
    ...(cgroup.held ? [] : (['memory', 'processes'] as const)),
    'cpu',
    ...(FORM_HAS[form].ownRoot ? [] : (['scratch'] as const)),
  ] as const
  const limit = summed.find((name) => limits[name] !== undefined)
  if (limit !== undefined)
    throw fail('limit-unsupported', {
      limit,
      problem: measuring.problem,
      fix: 'remove the limit, or set it on the outer cell',
    })
}

export const trapsOf = (
  { boundary, form, observe, stdio }: CellRequest,
  host: HostFacts,
  holdsProtected: boolean,
): readonly Trap[] => {
  if (!host.listener.held) {
    if (observe === 'everything')
      throw fail('host-cannot-hold', {
        mechanism: 'seccomp-listener',
        problem: host.listener.problem,
        fix: 'run without --observe',
      })
    return []
  }
  const has = FORM_HAS[form]
  const traps: Trap[] = ['connect']
  // Counting every fork costs a little, and a signal can interrupt one. So it is done only for a limit of a
  // policy: for a default, a shell must not fail to fork because a child of it ended.
  if (boundary.limits.processes !== undefined) traps.push('fork')
  if (boundary.limits.memory !== undefined) traps.push('memory-file')
  if (boundary.exec.kind !== 'all') traps.push('exec')
  // Opens for writing are few. Each watched open costs some ten microseconds, too much for programs that read
  // thousands.
  traps.push('change')
  if (observe === 'reads') traps.push('read')
  if (observe === 'everything') traps.push('open')
  // `rm -r` removes thousands of files, so removals are watched only if somebody watches the command.
  if (observe === 'everything' || (holdsProtected && stdio.in !== 'frames')) traps.push('name')
  if (!has.ownRoot) traps.push('metadata', 'write')
  // The limit of a user namespace is set in its own /proc.
  if (!hasOwnProc(form, host)) traps.push('watch')
  // The socket itself tells whether it may listen. If it cannot be borrowed, or Landlock (before ABI 4) does not see
  // bind(), only permitted sockets can be made.
  if (!has.ownNetwork && boundary.network.kind === 'none' && (!host.borrowing.held || host.landlock.abi < 4))
    traps.push('socket')
  // From ABI 6 on Landlock keeps signals inside.
  if (!has.ownProcesses && host.landlock.abi < 6) traps.push('signal')
  return traps
}
