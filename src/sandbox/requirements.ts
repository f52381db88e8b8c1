import { fail } from '../errors/index.js'
import type { Mechanism } from '../policy/index.js'
import { MECHANISMS } from '../policy/index.js'

import type { Attempt, HostFacts } from './host.js'
import type { Form } from './plan.js'

/** Refuses a call whose policy requires a mechanism that its cell would not have. */
export const refuseMissingMechanisms = (required: readonly Mechanism[], form: Form, host: HostFacts): void => {
  for (const mechanism of required) {
    const problem = problemWith(mechanism, form, host)
    if (problem !== undefined) throw fail('host-cannot-hold', { mechanism, problem, fix: fixFor(mechanism, form, host) })
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
      return 'this version has no egress proxy yet, which is what answers a broker'
    case 'user-namespace':
    case 'mount-namespace':
    case 'pid-namespace':
    case 'network-namespace':
    case 'ipc-namespace':
    case 'uts-namespace':
      return form === 'namespaces' ? undefined : host.namespaces.held ? 'the landlock form was chosen, which has no namespaces' : problemOf(host.namespaces)
  }
}

const NOT_YET: readonly Mechanism[] = ['broker']

const fixFor = (mechanism: Mechanism, form: Form, host: HostFacts): string => {
  const held = MECHANISMS.filter((name) => problemWith(name, form, host) === undefined).join(', ')
  if (NOT_YET.includes(mechanism)) return `no host has it in this version: do not require it; what can be required here: ${held}`
  if (form === 'landlock' && host.namespaces.held && mechanism.endsWith('-namespace')) return 'leave the form to Cordon (--form auto), or do not require it'
  return `run \`cordon doctor\`: it says how to get it; what can be required here as it is: ${held}`
}

const problemOf = (attempt: Attempt): string | undefined => (attempt.held ? undefined : `${attempt.stage}: ${attempt.problem}`)
