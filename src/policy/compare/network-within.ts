import type { RequestScope } from '../credential.js'
import { addPaths, compileNetwork, entriesOf, isAboutPort } from './compile-network.js'
import { hostRepresentatives, methodRepresentatives, portRepresentatives } from './destination-classes.js'
import type { Effort } from './effort.js'
import { newEffort, spend } from './effort.js'
import { findPath } from './find-path.js'
import type { PathFound } from './find-path.js'
import { and, bit, not } from './formula.js'
import type { HostGrant } from '../network/host-grant.js'
import { indexHosts } from '../network/host-index.js'
import { renderIpAddress } from '../network/ip-address.js'
import { SAFE_METHODS } from '../model.js'
import type { NetworkRequest, RequestHost } from '../network/network-request.js'
import { createTrie } from './path-trie.js'
import type { RequestWitness, Witness } from './witness.js'

const UNDECIDED: Witness = { kind: 'undecided', section: 'network' }

/** A request or connection that `a` allows and `b` does not. */
export const networkBeyond = (a: RequestScope, b: RequestScope): Witness | undefined => {
  const entries = [...entriesOf(a), ...entriesOf(b)]
  const [networkOfA, networkOfB] = [compileNetwork(a), compileNetwork(b)]
  const [indexOfA, indexOfB] = [indexHosts(entriesOf(a)), indexHosts(entriesOf(b))]
  const isBeyond = (request: NetworkRequest) =>
    networkOfA.answer(request).kind === 'allowed' && networkOfB.answer(request).kind === 'denied'
  const effort = newEffort()
  const checked = new Set<string>()
  const numbers = new Map(entries.map((entry, number) => [entry, number]))

  for (const host of hostRepresentatives(entries)) {
    const [aboutA, aboutB] = [indexOfA.about(host), indexOfB.about(host)]
    for (const port of portRepresentatives([...aboutA, ...aboutB])) {
      if (networkOfA.connection(host, port) === undefined) continue
      const ofA = aboutA.filter((entry) => isAboutPort(entry, port))
      const ofB = aboutB.filter((entry) => isAboutPort(entry, port))
      // Hosts with the same entries have the same answer.
      const key = [...ofA, ...ofB].map((entry) => numbers.get(entry)).join()
      if (checked.has(key)) continue
      checked.add(key)
      const methods = methodRepresentatives([...ofA, ...ofB])
      if (!spend(effort, methods.length * (1 + ofA.length + ofB.length))) return UNDECIDED
      const witnessOf = (use: RequestWitness['use']): Witness => ({
        kind: 'network',
        request: { host: renderHost(host), port, use },
      })
      for (const kind of ['direct', 'stream'] as const)
        if (isBeyond({ host, port, use: { kind } })) return witnessOf({ kind })
      for (const method of methods) {
        const found = pathBeyond({ scope: a, entries: ofA }, { scope: b, entries: ofB }, method, effort)
        if (found.kind === 'undecided') return UNDECIDED
        if (found.kind === 'path') return witnessOf({ kind: 'http', method, path: found.path })
        if (isBeyond({ host, port, use: { kind: 'http', method, paths: 'ambiguous' } }))
          return witnessOf({ kind: 'http', method, path: 'ambiguous' })
      }
    }
  }
  return undefined
}

const renderHost = (host: RequestHost): string => (host.kind === 'name' ? host.name : renderIpAddress(host.address))

interface Side {
  readonly scope: RequestScope
  /** Those about the host and the port. */
  readonly entries: readonly HostGrant[]
}

const GRANT_A = 1
const DENY_A = 2
const GRANT_B = 4
const DENY_B = 8
const NOTHING_MORE = { here: 0, beneath: 0 }
const BEYOND = and(bit(GRANT_A), not(bit(DENY_A)), not(and(bit(GRANT_B), not(bit(DENY_B)))))

/** A URL path that one side allows for a method and the other does not. */
const pathBeyond = (a: Side, b: Side, method: string, effort: Effort): PathFound => {
  const trie = createTrie<never>()
  const add = ({ scope: { network, egressClass }, entries }: Side, grant: number, deny: number) => {
    const isOpen =
      network.kind !== 'none' &&
      egressClass.level !== 'none' &&
      (egressClass.level === 'write' || SAFE_METHODS.includes(method))
    if (!isOpen) return
    if (network.kind === 'all') trie.add([], { at: grant, under: grant })
    for (const entry of entries) {
      if (entry.methods.kind === 'list' && !entry.methods.items.includes(method)) continue
      addPaths(trie, entry, entry.action === 'deny' ? deny : grant)
    }
  }
  add(a, GRANT_A, DENY_A)
  add(b, GRANT_B, DENY_B)
  return findPath(
    { root: trie.build(), wanted: BEYOND, needed: GRANT_A, settle: () => NOTHING_MORE, possible: (reach) => reach },
    effort,
  )
}
