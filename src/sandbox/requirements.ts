import { fail } from '../errors/index.js'
import type { Mechanism } from '../policy/index.js'

import type { Attempt, HostFacts } from './host.js'
import type { Form } from './plan.js'

/** Refuses a call whose policy requires a mechanism that its cell would not have. */
export const refuseMissingMechanisms = (required: readonly Mechanism[], form: Form, host: HostFacts): void => {
  for (const mechanism of required) {
    const problem = problemWith(mechanism, form, host)
    if (problem !== undefined) throw fail('host-cannot-hold', { mechanism, problem, fix: 'run `cordon doctor`: it says how to get more' })
  }
}

const problemWith = (mechanism: Mechanism, form: Form, host: HostFacts): string | undefined => {
  switch (mechanism) {
    case 'landlock':
      return problemOf(host.landlock)
    case 'seccomp':
    case 'rlimit':
      return undefined // without it no cell starts at all
    case 'seccomp-listener':
      return problemOf(host.listener)
    case 'cgroup':
      return problemOf(host.cgroup)
    case 'broker':
      return 'this version has no egress proxy yet'
    default:
      return form === 'namespaces' ? undefined : host.namespaces.held ? 'the landlock form was chosen, which has no namespaces' : problemOf(host.namespaces)
  }
}

const problemOf = (attempt: Attempt): string | undefined => (attempt.held ? undefined : `${attempt.stage}: ${attempt.problem}`)
