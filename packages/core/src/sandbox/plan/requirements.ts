import { fail } from '../../errors/index.js'
import type { Boundary, Form, Mechanism } from '../../policy/index.js'
import { MECHANISMS } from '../../policy/index.js'

import { FORM_HAS, bringsMounts } from './host-facts.js'
import type { Attempt, HostFacts } from './host-facts.js'

type Required = Pick<Boundary, 'require' | 'network'>

export const refuseMissingMechanisms = (required: Required, form: Form, host: HostFacts): void => {
  const mechanism = missingMechanism(required, form, host)
  if (mechanism === undefined) return
  const has = { form, host, hosts: required.network.kind === 'hosts' }
  throw fail('host-cannot-hold', { mechanism, problem: problemWith(mechanism, has) ?? '', fix: fixFor(mechanism, has) })
}

export const missingMechanism = ({ require, network }: Required, form: Form, host: HostFacts): Mechanism | undefined =>
  require.find((mechanism) => problemWith(mechanism, { form, host, hosts: network.kind === 'hosts' }) !== undefined)

/** The mechanisms that a policy can require here, if hosts are granted. */
export const availableMechanisms = (form: Form, host: HostFacts): readonly Mechanism[] =>
  MECHANISMS.filter((mechanism) => problemWith(mechanism, { form, host, hosts: true }) === undefined)

interface Has {
  readonly form: Form
  readonly host: HostFacts
  readonly hosts: boolean
}

const problemWith = (mechanism: Mechanism, { form, host, hosts }: Has): string | undefined => {
  switch (mechanism) {
    case 'landlock':
      return FORM_HAS[form].landlock ? problemOf(host.landlock) : `the ${form} form was chosen, which has no Landlock`
    case 'seccomp':
    case 'rlimit':
      return undefined // without it no cell starts at all
    case 'seccomp-listener':
      return problemOf(host.listener)
    case 'cgroup':
      return problemOf(host.cgroup)
    case 'broker':
      return !hosts
        ? 'it is there for granted hosts, and this call has none'
        : host.nesting.held && !FORM_HAS[form].ownNetwork
          ? undefined
          : problemOf(host.listener)
    case 'user-namespace':
    case 'mount-namespace':
    case 'pid-namespace':
    case 'network-namespace':
    case 'ipc-namespace':
    case 'uts-namespace':
      return FORM_HAS[form].ownRoot || host.wall?.brings.includes(mechanism) === true
        ? undefined
        : host.namespaces.held
          ? `the ${form} form was chosen, which has no namespaces`
          : problemOf(host.namespaces)
  }
}

const AUTO_FORM = 'leave the form to Cordon (--form auto), or do not require it'

const fixFor = (mechanism: Mechanism, has: Has): string => {
  const { form, host, hosts } = has
  const held = MECHANISMS.filter((name) => problemWith(name, has) === undefined).join(', ')
  if (mechanism === 'broker' && !hosts)
    return `grant a host (--net HOST), or do not require it; what can be required here: ${held}`
  if (!FORM_HAS[form].ownRoot && host.namespaces.held && mechanism.endsWith('-namespace')) return AUTO_FORM
  if (!FORM_HAS[form].landlock && mechanism === 'landlock' && host.landlock.held) return AUTO_FORM
  return `run \`cordon doctor\`: it says how to get it; what can be required here as it is: ${held}`
}

export const problemOf = (attempt: Attempt): string | undefined =>
  attempt.held ? undefined : `${attempt.stage}: ${attempt.problem}`

/** The mounts form is probed with one, and is not there without. `ownProc` was probed with Landlock. */
export const hasOwnProc = (
  form: Form,
  { ownProc, mounts, wall }: Pick<HostFacts, 'ownProc' | 'mounts' | 'wall'>,
): boolean => (FORM_HAS[form].landlock ? (FORM_HAS[form].ownRoot || bringsMounts(wall)) && ownProc.held : mounts.held)

/**
 * The requested form, or the strongest one that this host supports. `mounts` has one barrier for files instead of two,
 * so it has to be requested.
 */
export const chooseForm = (wanted: Form | 'auto', host: HostFacts): Form => {
  const order: readonly Form[] = wanted === 'auto' ? ['namespaces', 'landlock'] : [wanted]
  const chosen = order.find((form) => host[form].held)
  if (chosen !== undefined) return chosen
  const problem = order.map((form) => `${form}: ${problemOf(host[form]) ?? ''}`).join('; ')
  throw fail('host-cannot-hold', { mechanism: order.join(' or '), problem, fix: otherFormFor(host) })
}

const otherFormFor = ({ wall, mounts }: HostFacts): string => {
  if (wall !== undefined) return 'leave the form to Cordon (--form auto), or the backend (--backend auto)'
  const doctor = 'run `cordon doctor`: it says what is missing and how to get it'
  return mounts.held
    ? `${doctor}; or accept a cell without Landlock: --form mounts (sandbox: { form: 'mounts' }), see SECURITY.md`
    : doctor
}
