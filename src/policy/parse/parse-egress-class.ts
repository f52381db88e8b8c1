import { fail } from '../../errors/index.js'

import type { HostGrant } from '../network/host-grant.js'
import { renderDestination } from '../network/host-grant.js'
import type { ToolPolicy } from '../model.js'
import { EGRESS_CLASSES, SAFE_METHODS } from '../model.js'
import type { PolicyNode } from './policy-node.js'
import { keyOf, oneOf, sourceOf } from './policy-node.js'

type Network = ToolPolicy['network']

/**
 * Reads the class and brings the network in line with it: under `read_only` an entry without methods
 * gets those that only read. What says the opposite of the class is an error, not a question of order.
 */
export const parseEgressClass = (
  node: PolicyNode | undefined,
  network: Network,
): Pick<ToolPolicy, 'egressClass' | 'network'> => {
  if (node === undefined) return { egressClass: { kind: 'unspecified' }, network }
  const level = oneOf(node, EGRESS_CLASSES)
  const conflict = conflictWith(level, network)
  if (conflict !== undefined) throw fail('policy-conflict', { source: sourceOf(node), where: keyOf(node), ...conflict })
  return { egressClass: { kind: 'declared', level }, network: level === 'read_only' ? readingOnly(network) : network }
}

interface Conflict {
  readonly conflict: string
  readonly fix: string
}

const conflictWith = (level: (typeof EGRESS_CLASSES)[number], network: Network): Conflict | undefined => {
  if (level !== 'none') {
    if (network.kind === 'none')
      return { conflict: `it is ${level}, but network is none`, fix: 'write egress_class: none, or list the hosts' }
    if (network.kind === 'list' && grantsOf(network).length === 0)
      return { conflict: `it is ${level}, but network only denies`, fix: 'write egress_class: none, or list the hosts' }
  }
  switch (level) {
    case 'none':
      if (network.kind === 'all')
        return { conflict: 'it is none, but network is all', fix: 'write network: none, or another class' }
      return describeFirst(
        grantsOf(network),
        'it is none, but network grants',
        'remove that entry, or write another class',
      )
    case 'read_only':
      return describeFirst(
        grantsOf(network).filter(canWrite),
        'it is read_only, but network grants more than GET, HEAD and OPTIONS at',
        'narrow that entry, or write egress_class: write',
      )
    case 'write':
      return undefined
  }
}

const grantsOf = (network: Network): readonly HostGrant[] =>
  network.kind === 'list' ? network.items.filter(({ action }) => action !== 'deny') : []

/** Nobody looks into a direct connection, so that nothing keeps it from writing. */
const canWrite = ({ action, methods }: HostGrant): boolean =>
  action === 'direct' || (methods.kind === 'list' && methods.items.some((method) => !SAFE_METHODS.includes(method)))

const describeFirst = ([first]: readonly HostGrant[], before: string, fix: string): Conflict | undefined =>
  first === undefined ? undefined : { conflict: `${before} ${renderDestination(first)}`, fix }

const readingOnly = (network: Network): Network => {
  if (network.kind !== 'list') return network
  return { kind: 'list', items: network.items.map(readingGrant) }
}

export const readingGrant = (grant: HostGrant): HostGrant =>
  grant.action === 'allow' && grant.methods.kind === 'all'
    ? { ...grant, methods: { kind: 'list', items: SAFE_METHODS } }
    : grant
