// What a plan says of the network: none, the host's own, or granted hosts through the proxy.
import { randomBytes } from 'node:crypto'

import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { Boundary, Form, HostGrant } from '../../policy/index.js'
import { WEB_PORTS, renderCidr, renderIpAddress } from '../../policy/index.js'

import { FORM_HAS } from './host-facts.js'
import type { Attempt, HostFacts } from './host-facts.js'
import type { Plan, Reach } from './plan.js'

interface NetworkRequest {
  readonly boundary: Pick<Boundary, 'network' | 'egressClass'>
  readonly form: Form
  readonly proxy: { readonly authority: string } | undefined
}

/** The proxy address in the tool's variables. Nobody listens there: the keeper answers connect() to it. */
const PROXY_PORT = 3128

export const newToken = (): string => randomBytes(24).toString('hex')

export const unsupportedGrant = (grant: string, problem: string, fix: string): CordonError =>
  fail('network-grant-unsupported', { grant, problem, fix })

export const networkOf = (
  { boundary: { network, egressClass }, form, proxy }: NetworkRequest,
  host: HostFacts,
): Plan['network'] => {
  switch (network.kind) {
    case 'none':
      return 'none'
    case 'all':
      // The host's own network. Only the proxy, which is not on the way, could restrict it to reading.
      if (egressClass.level !== 'write')
        throw unsupportedGrant(
          'all',
          'all of the network is given without the proxy, which alone could hold egress_class: ' + egressClass.level,
          'name the hosts (network: ["api.example.org"]), or leave egress_class out',
        )
      // Nothing else refuses the host's sockets in granted folders.
      if (!FORM_HAS[form].ownNetwork && !host.listener.held)
        throw unsupportedGrant(
          'all',
          'neither a network namespace nor a seccomp listener can be had here',
          'run `cordon doctor`',
        )
      return 'all'
    case 'hosts':
      refuseUnbrokered(network.entries, form, proxy !== undefined, host)
      return {
        port: PROXY_PORT,
        token: newToken(),
        reaches: reachesOf(network.entries),
        answeredBy: host.listener.held ? 'keeper' : FORM_HAS[form].landlock ? 'outer-keeper' : 'proxy',
      }
  }
}

/** Hosts are granted by name. Only the process that answers connect() knows the name. */
const refuseUnbrokered = (
  entries: readonly HostGrant[],
  form: Form,
  isServed: boolean,
  { listener, nesting, landlock }: HostFacts,
): void => {
  const refuse = (problem: string, fix: string) =>
    unsupportedGrant(entries.map(({ text }) => text).join(', '), problem, fix)
  if (!isServed)
    throw refuse(
      'grants by host need a proxy, and this call has none',
      'run it by `cordon run` or createCordon(), or grant none or all of the network',
    )
  // The proxy judges names and addresses again. A tool that has to ask it can reach no more than one that need not.
  if (!FORM_HAS[form].landlock) return
  const nested: Attempt = !FORM_HAS[form].ownNetwork
    ? nesting
    : { held: false, stage: 'nesting', problem: 'it is for the landlock form' }
  if (!listener.held && !nested.held)
    throw refuse(
      `grants by host need a seccomp listener (${listener.problem}), or an outer cell that grants hosts ` +
        `itself (${nested.problem})`,
      'run `cordon doctor`; inside another cell, grant the hosts to that one, too; with --form mounts, programs that ' +
        'use a proxy reach them',
    )
  const unseen = listener.held
    ? undefined
    : entries.find(
        ({ action, destination }) =>
          action === 'deny' && (destination.kind === 'address' || destination.kind === 'cidr'),
      )
  if (unseen !== undefined)
    throw refuse(
      `only the outer cell knows which addresses names lead to, so that ${unseen.text} could not be denied here`,
      'deny it in the policy of the outer cell',
    )
  if (!FORM_HAS[form].ownNetwork && landlock.abi < 4)
    throw refuse('grants by host need a network namespace, or Landlock of ABI 4 (Linux 6.7)', 'run `cordon doctor`')
}

/**
 * The destinations for which connect() is led to the proxy. Only the proxy knows denials: it judges every connection
 * again.
 */
export const reachesOf = (entries: readonly HostGrant[]): readonly Reach[] => {
  const reaches = entries
    .filter(({ action }) => action !== 'deny')
    .flatMap(({ destination, port }) => {
      const ports = port.kind === 'web' ? WEB_PORTS : [port.port]
      return ports.map((each) => ({ ...whereOf(destination), port: each }))
    })
  return [...new Map(reaches.map((reach) => [`${reach.kind} ${reach.value} ${reach.port}`, reach])).values()]
}

const whereOf = (destination: HostGrant['destination']): Pick<Reach, 'kind' | 'value'> => {
  switch (destination.kind) {
    case 'host':
      return { kind: 'name', value: destination.host }
    case 'subdomains':
      return { kind: 'below', value: destination.host }
    case 'address':
      return {
        kind: 'block',
        value: `${renderIpAddress(destination.address)}/${destination.address.family === 4 ? '32' : '128'}`,
      }
    case 'cidr':
      return { kind: 'block', value: renderCidr(destination.cidr) }
  }
}

export const renderReach = ({ kind, value, port }: Reach): string => {
  const where = kind === 'below' ? `*.${value}` : value.includes(':') ? `[${value}]` : value
  return `${where}:${port}`
}
