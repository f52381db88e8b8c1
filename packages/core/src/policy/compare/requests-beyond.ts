// Looks for a request that one set of requests contains and others do not. Sets are compared class by class: the same
// entries are about all hosts, ports and methods of one class.
import type { RequestScope } from '../credential.js'
import { addPaths, compileNetwork, entriesOf } from './compile-network.js'
import { addressRepresentatives, blocksOf, hostRepresentatives, methodRepresentatives } from './destination-classes.js'
import { portRepresentatives } from './destination-classes.js'
import type { Effort } from './effort.js'
import { newEffort, spend } from './effort.js'
import { and, bit, findPath, not, or } from './find-path.js'
import type { Formula, PathFound } from './find-path.js'
import { SAFE_METHODS } from '../model.js'
import { coversEndpoint, isAboutPort } from '../network/covers-host.js'
import type { Endpoint, HostGrant } from '../network/host-grant.js'
import { denialOfAddress, indexHosts, isGrantedAddress } from '../network/host-index.js'
import { renderIpAddress } from '../network/ip-address.js'
import type { IpAddress } from '../network/ip-address.js'
import { renderHost } from '../network/network-request.js'
import type { NetworkRequest, NetworkUse, RequestHost } from '../network/network-request.js'
import { specialBlocks, specialPurpose } from '../network/special-addresses.js'
import { createTrie } from './path-trie.js'
import { hostText } from '../resolve/canonical-policy.js'
import type { RequestWitness } from './witness.js'

/** The requests that all of these scopes allow. */
interface Requests {
  readonly scopes: readonly RequestScope[]
  /** The only destinations, or `any`. */
  readonly hosts: 'any' | readonly Endpoint[]
}

export type RequestFound = RequestWitness | 'undecided' | undefined

/** A request or connection that `a` allows and `b` does not. */
export const networkBeyond = (a: RequestScope, b: RequestScope): RequestFound =>
  isPlainlyWithin(a, b) ? undefined : (requestBeyond(all(a), [all(b)], CONNECTIONS) ?? nameBeyond(a, b))

const all = (scope: RequestScope): Requests => ({ scopes: [scope], hosts: 'any' })

/** A request to a name that leads to an address of `a` alone. */
const nameBeyond = (a: RequestScope, b: RequestScope): RequestFound =>
  requestBeyond(all(a), [], { ...CONNECTIONS, addressFor: addressBeyond(a, b) })

/** Grants add up and denials take away, so this is quick to see for most policies. */
export const isPlainlyWithin = (a: RequestScope, b: RequestScope): boolean => {
  if (a.network.kind !== 'hosts' || b.network.kind !== 'hosts' || a.egressClass.level !== b.egressClass.level)
    return false
  const textsOf = (scope: RequestScope, isDenial: boolean) =>
    entriesOf(scope)
      .filter(({ action }) => (action === 'deny') === isDenial)
      .map(hostText)
  const [grantsOfB, denialsOfA] = [new Set(textsOf(b, false)), new Set(textsOf(a, true))]
  return (
    textsOf(a, false).every((text) => grantsOfB.has(text)) && textsOf(b, true).every((text) => denialsOfA.has(text))
  )
}

interface Interest {
  /** The uses that count besides HTTP. */
  readonly connections: readonly Exclude<NetworkUse['kind'], 'http'>[]
  /** If given, only requests to names count that may lead to an address which this finds for the port. */
  readonly addressFor?: (port: number) => string | undefined
}

const CONNECTIONS: Interest = { connections: ['direct', 'stream'] }
export const HTTP_ONLY: Interest = { connections: [] }

/** Two bits for each scope must fit into one number. */
const MOST_SCOPES = 15

/** A request of `a` that none of `b` contains. */
export const requestBeyond = (
  a: Requests,
  b: readonly Requests[],
  { connections, addressFor }: Interest,
): RequestFound => {
  const scopes = [...new Set([...a.scopes, ...b.flatMap((each) => each.scopes)])].map(prepare)
  if (scopes.length > MOST_SCOPES) return 'undecided'
  const namedHosts = [a, ...b].flatMap(({ hosts }) => (hosts === 'any' ? [] : hosts))
  const everyEntry = [...new Set(scopes.flatMap(({ entries }) => entries))]
  const numbers = new Map<Endpoint, number>([...everyEntry, ...namedHosts].map((entry, number) => [entry, number]))
  const effort = newEffort()
  const checked = new Set<string>()

  for (const host of hostRepresentatives([...everyEntry, ...namedHosts])) {
    const about = scopes.map((scope) => scope.about(host))
    for (const port of portRepresentatives([...about.flat(), ...namedHosts])) {
      if (!isNamed(a, host, port)) continue
      const open = b.filter((each) => isNamed(each, host, port))
      const there = scopes.map((scope, at) => reachable(scope, about[at] ?? [], host, port))
      const address = host.kind === 'name' ? addressFor?.(port) : undefined
      if (addressFor !== undefined && address === undefined) continue
      // Hosts with the same entries have the same answer.
      const key = JSON.stringify([
        there.map((entries) => entries?.map((entry) => numbers.get(entry)) ?? null),
        open.map((each) => b.indexOf(each)),
        address ?? null,
      ])
      if (checked.has(key)) continue
      checked.add(key)
      const sideOf = ({ scopes: all }: Requests): readonly Side[] =>
        scopes.flatMap((scope, at) => (all.includes(scope.scope) ? [{ ...scope, bits: at, there: there[at] }] : []))
      const [ofA, ofB] = [sideOf(a), open.map(sideOf)]
      const methods = ofA.some((side) => side.there === undefined)
        ? []
        : methodRepresentatives([...ofA, ...ofB.flat()].flatMap((side) => side.there ?? []))
      if (!spend(effort, methods.length * (1 + there.flatMap((entries) => entries ?? []).length))) return 'undecided'
      const found = useBeyond(ofA, ofB, { endpoint: { host, port }, connections, methods }, effort)
      if (found === 'undecided') return found
      if (found !== undefined)
        return { host: renderHost(host), port, use: found, ...(address === undefined ? {} : { address }) }
    }
  }
  return undefined
}

const prepare = (scope: RequestScope) => ({
  scope,
  entries: entriesOf(scope),
  about: indexHosts(entriesOf(scope)),
  compiled: compileNetwork(scope),
})

type Scope = Readonly<ReturnType<typeof prepare>>

const isNamed = ({ hosts }: Requests, host: RequestHost, port: number): boolean =>
  hosts === 'any' || hosts.some((named) => coversEndpoint(named, host, port))

/** The entries about an endpoint, or undefined if no connection could be made. */
const reachable = (
  { compiled }: Scope,
  entries: readonly HostGrant[],
  host: RequestHost,
  port: number,
): readonly HostGrant[] | undefined =>
  compiled.connection(host, port) === undefined ? undefined : entries.filter((entry) => isAboutPort(entry, port))

interface Side extends Scope {
  /** The number of the scope, which gives its bits. */
  readonly bits: number
  readonly there: readonly HostGrant[] | undefined
}

interface Uses extends Pick<Interest, 'connections'> {
  readonly endpoint: Pick<NetworkRequest, 'host' | 'port'>
  readonly methods: readonly string[]
}

const useBeyond = (
  a: readonly Side[],
  b: readonly (readonly Side[])[],
  { endpoint, connections, methods }: Uses,
  effort: Effort,
): RequestWitness['use'] | 'undecided' | undefined => {
  const allows = (sides: readonly Side[], use: NetworkUse) =>
    sides.every(
      ({ there, compiled }) => there !== undefined && compiled.answer({ ...endpoint, use }).kind === 'allowed',
    )
  const isBeyond = (use: NetworkUse) => allows(a, use) && !b.some((sides) => allows(sides, use))
  const connection = connections.find((kind) => isBeyond({ kind }))
  if (connection !== undefined) return { kind: connection }
  for (const method of methods) {
    const found = pathBeyond(a, b, method, effort)
    if (found.kind === 'undecided') return 'undecided'
    if (found.kind === 'path') return { kind: 'http', method, path: found.path }
    if (isBeyond({ kind: 'http', method, paths: 'ambiguous' })) return { kind: 'http', method, path: 'ambiguous' }
  }
  return undefined
}

const grantBit = ({ bits }: Side): number => 1 << (2 * bits)
const denyBit = ({ bits }: Side): number => 2 << (2 * bits)
const allowed = (sides: readonly Side[]): Formula =>
  and(...sides.map((side) => and(bit(grantBit(side)), not(bit(denyBit(side))))))

/** A URL path that `a` allows for a method and none of `b` does. */
const pathBeyond = (a: readonly Side[], b: readonly (readonly Side[])[], method: string, effort: Effort): PathFound => {
  const trie = createTrie<never>()
  for (const side of new Map([...a, ...b.flat()].map((each) => [each.bits, each])).values()) {
    const { there } = side
    const { network, egressClass } = side.scope
    if (there === undefined || (egressClass.level === 'read_only' && !SAFE_METHODS.includes(method))) continue
    if (network.kind === 'all') trie.add([], { at: grantBit(side), under: grantBit(side) })
    for (const entry of there) {
      if (entry.methods.kind === 'list' && !entry.methods.items.includes(method)) continue
      addPaths(trie, entry, entry.action === 'deny' ? denyBit(side) : grantBit(side))
    }
  }
  const wanted = and(allowed(a), not(or(...b.map(allowed))))
  const needed = a.reduce((bits, side) => bits | grantBit(side), 0)
  return findPath({ root: trie.build(), wanted, needed }, effort)
}

// Addresses of names. A name may lead anywhere: its owner or the operator decides. The proxy dials an address unless an
// entry denies it. An address that is not public must be granted, or given to the name by the operator.

/** For a port, an address that a name may lead to in `a` and not in `b`. */
const addressBeyond = (a: RequestScope, b: RequestScope): ((port: number) => string | undefined) => {
  if (a.network.kind !== 'hosts' || b.network.kind !== 'hosts') return () => undefined
  const [aboutA, aboutB] = [indexHosts(entriesOf(a)), indexHosts(entriesOf(b))]
  const entries = [...entriesOf(a), ...entriesOf(b)]
  const denials = entries.filter(({ action, destination }) => action === 'deny' && !('host' in destination))
  const addresses = addressRepresentatives([...blocksOf(entries), ...specialBlocks().map(({ block }) => block)])
  const isBeyond = (address: IpAddress, port: number): boolean =>
    denialOfAddress(aboutA, address, port) === undefined &&
    (denialOfAddress(aboutB, address, port) !== undefined ||
      (specialPurpose(address) !== undefined &&
        isGrantedAddress(aboutA, address) &&
        !isGrantedAddress(aboutB, address)))
  const found = new Map<number, string | undefined>()
  return (port) => {
    // A port that no denial names is like all others.
    const key = denials.some((entry) => entry.port.kind === 'port' && entry.port.port === port) ? port : 0
    if (!found.has(key)) {
      const address = addresses.find((each) => isBeyond(each, port))
      found.set(key, address === undefined ? undefined : renderIpAddress(address))
    }
    return found.get(key)
  }
}
