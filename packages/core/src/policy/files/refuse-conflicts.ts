// Several policies used together must not contradict each other. Their order does not decide, and the error names both
// places.
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'

import { canonicalCredentials, hostText } from '../resolve/canonical-policy.js'
import { coversDestination, includesHosts } from '../network/covers-host.js'
import { placeOfInjection } from '../credential.js'
import type { Credential } from '../credential.js'
import type { HostGrant } from '../network/host-grant.js'
import { renderDestination } from '../network/host-grant.js'
import { itemsIn } from '../model.js'
import type { ToolPolicy } from '../model.js'
import type { PolicyFile } from './policy-file.js'

/** A policy among others, with the places of its lines. */
export type PlacedPolicy = Pick<PolicyFile, 'source' | 'policy' | 'whereIs'>

export const refuseConflicts = (policies: readonly PlacedPolicy[]): void => {
  policies.forEach((later, at) => {
    refuseCredentials(later, later)
    for (const earlier of policies.slice(0, at)) {
      refuseNetwork(earlier, later)
      refuseEnvironment(earlier, later)
      refuseCredentials(earlier, later)
    }
  })
}

const conflict = (
  where: string,
  what: string,
  { later, earlier, fix }: { readonly later: string; readonly earlier: string; readonly fix: string },
): CordonError => fail('policy-conflict', { source: later, where, conflict: `${what} at ${earlier}`, fix })

export const refuseNetwork = (earlier: PlacedPolicy, later: PlacedPolicy): void => {
  for (const one of itemsIn(earlier.policy.network)) {
    for (const other of itemsIn(later.policy.network)) {
      const problem = contradiction(one, other)
      if (problem !== undefined)
        throw conflict(
          'network',
          `${renderDestination(other)} is ${verb(other)}, and ${renderDestination(one)} is ${verb(one)}${problem}`,
          {
            later: later.whereIs('network', hostText(other)),
            earlier: earlier.whereIs('network', hostText(one)),
            fix: 'take one of the two entries out, or leave one of the two policies out',
          },
        )
    }
  }
}

const verb = ({ action }: HostGrant): string => ({ allow: 'allowed', deny: 'denied', direct: 'direct' })[action]

const isWhole = ({ methods, paths }: HostGrant): boolean => methods.kind === 'all' && paths.kind === 'all'

/** A denial of a whole grant, or two ways to treat one connection. A denial of a part is not a contradiction. */
const contradiction = (one: HostGrant, other: HostGrant): string | undefined => {
  if (one.action === other.action) return undefined
  const [denial, grant] = one.action === 'deny' ? [one, other] : [other, one]
  if (denial.action === 'deny')
    return (isWhole(denial) && covers(denial, grant)) || isSameScope(denial, grant) ? '' : undefined
  return renderDestination(one) === renderDestination(other) ? ', where nothing can be checked,' : undefined
}

/** A denial without a port is for every port. */
const covers = (denial: HostGrant, grant: HostGrant): boolean =>
  denial.port.kind === 'web' ? includesHosts(denial.destination, grant.destination) : coversDestination(denial, grant)

const isSameScope = (one: HostGrant, other: HostGrant): boolean =>
  hostText({ ...one, action: 'allow' }) === hostText({ ...other, action: 'allow' })

const refuseEnvironment = (earlier: PlacedPolicy, later: PlacedPolicy): void => {
  const [before, after] = [variablesOf(earlier.policy), variablesOf(later.policy)]
  for (const [name, value] of after) {
    const known = before.get(name)
    if (known !== undefined && known.value !== value.value)
      throw conflict(value.section, `${name} is given otherwise`, {
        later: later.whereIs(value.section, value.key),
        earlier: earlier.whereIs(known.section, known.key),
        fix: `give ${name} in one of the two places, or the same in both`,
      })
  }
}

/** With the placeholders of credentials, which are variables of the tool too. */
const variablesOf = ({ environment, credentials }: ToolPolicy) =>
  new Map<string, { readonly value: string; readonly section: 'environment' | 'credentials'; readonly key: string }>([
    ...itemsIn(environment).map(
      ({ name, value }) => [name, { value: JSON.stringify(value), section: 'environment', key: name }] as const,
    ),
    ...credentials.flatMap(({ id, placeholder }) =>
      placeholder === undefined
        ? []
        : [[placeholder.name, { value: `${id} ${placeholder.text}`, section: 'credentials', key: id }] as const],
    ),
  ])

const refuseCredentials = (earlier: PlacedPolicy, later: PlacedPolicy): void => {
  for (const credential of later.policy.credentials) {
    const { id } = credential
    const same = earlier.policy.credentials.filter((other) => other.id === id)
    const own = later.policy.credentials.filter((other) => other.id === id)
    if (same.length > 0 && canonicalCredentials(same) !== canonicalCredentials(own))
      throw conflict('credentials', `the credential "${id}" has other contents`, {
        later: later.whereIs('credentials', id),
        earlier: earlier.whereIs('credentials', id),
        fix: 'give one of the two another id, or both the same contents',
      })
    const rival = earlier.policy.credentials.find((other) => other.id !== id && excludesEachOther(other, credential))
    if (rival !== undefined)
      throw conflict('credentials', `"${id}" would be put into the same place of a request as "${rival.id}"`, {
        later: later.whereIs('credentials', id),
        earlier: earlier.whereIs('credentials', rival.id),
        fix: 'use one of the two policies at a time, or put one of the credentials elsewhere (inject)',
      })
  }
}

const excludesEachOther = (one: Credential, other: Credential): boolean => {
  const [place, otherPlace] = [placeOfInjection(one.inject), placeOfInjection(other.inject)]
  if (place === undefined || place !== otherPlace) return false
  return one.hosts.some((host) =>
    other.hosts.some((there) => coversDestination(host, there) || coversDestination(there, host)),
  )
}
