import type { HostGrant } from '../network/host-grant.js'
import { renderDestination } from '../network/host-grant.js'
import type { EgressClass, ToolPolicy } from '../model.js'
import { EGRESS_CLASSES, SAFE_METHODS, itemsIn } from '../model.js'
import type { PolicyNode } from './policy-node.js'
import { conflict, oneOf } from './policy-node.js'

type Network = ToolPolicy['network']

/**
 * Reads the class and adapts the network to it: under `read_only` an entry without methods gets those that only read.
 * An entry that contradicts the class is an error.
 */
export const parseEgressClass = (
  node: PolicyNode | undefined,
  network: Network,
): Pick<ToolPolicy, 'egressClass' | 'network'> => {
  if (node === undefined) return { egressClass: { kind: 'unspecified' }, network }
  const level = oneOf(node, EGRESS_CLASSES)
  refuseContradiction(node, level, network)
  const isNarrowed = level === 'read_only' && network.kind === 'list'
  return {
    egressClass: { kind: 'declared', level },
    network: isNarrowed ? { kind: 'list', items: network.items.map(readingGrant) } : network,
  }
}

const refuseContradiction = (node: PolicyNode, level: EgressClass, network: Network): void => {
  const contradicts = (what: string, fix: string) => conflict(node, `it is ${level}, but network ${what}`, fix)
  const grants = itemsIn(network).filter(({ action }) => action !== 'deny')
  const [first] = grants
  if (level === 'none') {
    if (network.kind === 'all') throw contradicts('is all', 'write network: none, or another class')
    if (first !== undefined)
      throw contradicts(`grants ${renderDestination(first)}`, 'remove that entry, or write another class')
    return
  }
  if (network.kind === 'none' || (network.kind === 'list' && first === undefined))
    throw contradicts(
      network.kind === 'none' ? 'is none' : 'only denies',
      'write egress_class: none, or list the hosts',
    )
  const writing = level === 'read_only' ? grants.find(canWrite) : undefined
  if (writing !== undefined)
    throw contradicts(
      `grants more than GET, HEAD and OPTIONS at ${renderDestination(writing)}`,
      'narrow that entry, or write egress_class: write',
    )
}

/** The proxy does not look into a direct connection, so nothing keeps it from writing. */
const canWrite = ({ action, methods }: HostGrant): boolean =>
  action === 'direct' || (methods.kind === 'list' && methods.items.some((method) => !SAFE_METHODS.includes(method)))

export const readingGrant = (grant: HostGrant): HostGrant =>
  grant.action === 'allow' && grant.methods.kind === 'all'
    ? { ...grant, methods: { kind: 'list', items: SAFE_METHODS } }
    : grant
