import { fail } from '../../errors/index.js'
import { DEFAULT_LIMITS } from '../../policy/index.js'
import type { Boundary, Form } from '../../policy/index.js'

import { FORM_HAS } from './form-has.js'
import type { HostFacts } from './host-facts.js'
import type { Plan } from './plan.js'

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
