import type { AbsolutePath } from '../glob/absolute-path.js'
import { namesOf } from '../glob/absolute-path.js'
import type { RequestScope } from '../credential.js'
import { isAboutPort } from '../network/covers-host.js'
import { denialOfAddress, indexHosts } from '../network/host-index.js'
import { inAnyCase } from '../glob/glob-segments.js'
import type { HostGrant } from '../network/host-grant.js'
import { SAFE_METHODS } from '../model.js'
import type { NetworkRequest, NetworkUse, RequestHost } from '../network/network-request.js'
import { bitsAt, bitsUnder, createTrie, startAt, stepInto } from './path-trie.js'
import type { Bits, TrieBuilder } from './path-trie.js'

/** `entry`: the denial or the grant that decided, if one is about the request. */
export type NetworkAnswer =
  | { readonly kind: 'allowed'; readonly entry: HostGrant | undefined }
  | { readonly kind: 'denied'; readonly because: 'entry'; readonly entry: HostGrant }
  | { readonly kind: 'denied'; readonly because: 'not-granted' | 'read-only' }

/** The network of a boundary, prepared for many requests. Grants add up, and a denial wins in any order. */
export interface CompiledNetwork {
  readonly answer: (request: NetworkRequest) => NetworkAnswer
  /** How to treat a new connection. Undefined if no request there could be allowed. */
  readonly connection: (host: RequestHost, port: number) => 'http' | 'stream' | 'direct' | undefined
  /** The denial of everything there. No grant could change it. */
  readonly closedBy: (host: RequestHost, port: number) => HostGrant | undefined
  /** Whether only some methods or paths are allowed there. */
  readonly isRestricted: (endpoint: Pick<NetworkRequest, 'host' | 'port'>) => boolean
}

export const entriesOf = ({ network }: RequestScope): readonly HostGrant[] =>
  network.kind === 'hosts' ? network.entries : []

export const compileNetwork = (scope: RequestScope): CompiledNetwork => {
  const { network, egressClass } = scope
  const entries = entriesOf(scope)
  const aboutHost = indexHosts(entries)
  const pathMatchers = new Map(entries.map((entry) => [entry, matchPaths(entry)]))

  const about = (host: RequestHost, port: number) => aboutHost(host).filter((entry) => isAboutPort(entry, port))
  // An address is denied when it is dialled, by whatever name and for whatever request.
  const closedBy: CompiledNetwork['closedBy'] = (host, port) =>
    host.kind === 'address'
      ? denialOfAddress(aboutHost, host.address, port)
      : about(host, port).find(
          ({ action, methods, paths }) => action === 'deny' && methods.kind === 'all' && paths.kind === 'all',
        )
  const answer = ({ host, port, use }: NetworkRequest): NetworkAnswer => {
    if (network.kind === 'none' || egressClass.level === 'none') return { kind: 'denied', because: 'not-granted' }
    if (egressClass.level === 'read_only' && !(use.kind === 'http' && SAFE_METHODS.includes(use.method)))
      return { kind: 'denied', because: 'read-only' }
    if (network.kind === 'all') return { kind: 'allowed', entry: undefined }
    const closing = closedBy(host, port)
    if (closing !== undefined) return { kind: 'denied', because: 'entry', entry: closing }
    const named = about(host, port)
    const readings = use.kind === 'http' && use.paths !== 'ambiguous' ? use.paths : ['ambiguous' as const]
    const answers = readings.map((path): NetworkAnswer => {
      const matching = named.filter((entry) => coversUse(entry, use, path, pathMatchers.get(entry)))
      const denial = matching.find(({ action }) => action === 'deny')
      if (denial !== undefined) return { kind: 'denied', because: 'entry', entry: denial }
      const [grant] = matching
      return grant === undefined ? { kind: 'denied', because: 'not-granted' } : { kind: 'allowed', entry: grant }
    })
    return (
      answers.find((one) => one.kind === 'denied' && one.because === 'entry') ??
      answers.find(({ kind }) => kind === 'denied') ??
      answers[0] ?? { kind: 'denied', because: 'not-granted' }
    )
  }
  return {
    answer,
    closedBy,
    isRestricted: ({ host, port }) =>
      egressClass.level === 'read_only' ||
      about(host, port).some(({ methods, paths }) => methods.kind === 'list' || paths.kind === 'list'),
    connection: (host, port) => {
      if (answer({ host, port, use: { kind: 'direct' } }).kind === 'allowed')
        return network.kind === 'all' ? 'stream' : 'direct'
      if (answer({ host, port, use: { kind: 'stream' } }).kind === 'allowed') return 'stream'
      if (network.kind === 'none' || egressClass.level === 'none') return undefined
      if (network.kind === 'all') return 'http'
      return closedBy(host, port) === undefined && about(host, port).some(({ action }) => action !== 'deny')
        ? 'http'
        : undefined
    },
  }
}

/** Whether an entry is about a use, if its path is read so. */
const coversUse = (
  { action, port, methods, paths }: HostGrant,
  use: NetworkUse,
  path: AbsolutePath | 'ambiguous',
  matches: PathMatcher | undefined,
): boolean => {
  const isDenial = action === 'deny'
  switch (use.kind) {
    case 'direct':
      // The proxy must look into a connection to find the part that is denied.
      return isDenial || action === 'direct'
    case 'stream':
      // A grant without a port is for the web. On a port that it names, a host may speak any protocol.
      return isDenial || (port.kind === 'port' && methods.kind === 'all' && paths.kind === 'all')
    case 'http':
      if (methods.kind === 'list' && !methods.items.includes(use.method)) return false
      if (matches === undefined) return true
      return path === 'ambiguous' ? isDenial : matches(path)
  }
}

type PathMatcher = (path: AbsolutePath) => boolean

const MATCHED: Bits = 1

/** Undefined for an entry that is about all paths. */
export const matchPaths = (entry: HostGrant): PathMatcher | undefined => {
  if (entry.paths.kind === 'all') return undefined
  const trie = createTrie<never>()
  addPaths(trie, entry, MATCHED)
  const start = startAt(trie.build())
  return (path) => {
    let active = start
    let under: Bits = 0
    for (const name of namesOf(path)) {
      under = bitsUnder(active, under)
      active = stepInto(active, name)
    }
    return bitsAt(active, under) !== 0
  }
}

/** A URL path without a wildcard grants exactly that path. It denies everything beneath too, in either case. */
export const addPaths = (trie: TrieBuilder<never>, { paths, action }: HostGrant, bits: Bits): void => {
  if (paths.kind === 'all') {
    trie.add([], { at: bits, under: bits })
    return
  }
  for (const { segments } of paths.items.flatMap(({ alternatives }) => alternatives)) {
    if (action === 'deny') trie.add(segments.map(inAnyCase), { at: bits, under: bits })
    else trie.add(segments, { at: bits, under: segments.at(-1)?.kind === 'any-depth' ? bits : 0 })
  }
}
