// The section `network`, and the egress class that belongs to it.
import type { HostAction, HostGrant } from '../network/host-grant.js'
import { parseDestination, renderDestination } from '../network/host-grant.js'
import { getOrAdd } from '../get-or-add.js'
import { nearestKey } from '../nearest-key.js'
import type { PathGlob } from '../glob/path-glob.js'
import { parsePathGlob } from '../glob/path-glob.js'
import type { PolicyNode } from './policy-node.js'
import { conflict, invalid, mappingOf, oneOf, placeOf, someItemsOf, nodeText } from './policy-node.js'
import type { EgressClass, ToolPolicy } from '../model.js'
import { EGRESS_CLASSES, SAFE_METHODS, itemsIn } from '../model.js'

const ACTIONS = ['allow', 'deny', 'direct'] as const
const METHOD = /^[A-Z][A-Z-]*$/

const COMMON_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Registered methods, and those of some well-known servers. A few of them look like a misspelt common method. */
const METHODS = [
  ...COMMON_METHODS,
  ...(
    'ACL BIND CHECKIN CHECKOUT CONNECT COPY LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MKWORKSPACE MOVE ' +
    'ORDERPATCH PRI PROPFIND PROPPATCH QUERY REBIND REPORT SEARCH TRACE UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE ' +
    'VERSION-CONTROL LIST PURGE BAN NOTIFY SUBSCRIBE UNSUBSCRIBE SOURCE M-SEARCH'
  ).split(' '),
]

export const parseHostGrants = (items: readonly PolicyNode[]): readonly HostGrant[] => {
  const grants = new Map<string, HostGrant>()
  const actionsAt = new Map<string, Set<HostAction>>()
  for (const item of items) {
    const grant = parseHostGrant(item)
    const destination = renderDestination(grant)
    const scope = scopeOf(grant)
    const before = grants.get(scope)
    if (before !== undefined && before.action !== grant.action)
      throw conflict(
        item,
        `${destination} is already given with action ${before.action}`,
        'keep one of the two entries',
      )
    const actions = getOrAdd(actionsAt, destination, () => new Set()).add(grant.action)
    if (actions.has('direct') && actions.size > 1)
      throw conflict(
        item,
        `${destination} is direct and is filtered too; nothing can be checked on a direct connection`,
        'take out "action: direct", or every other entry of that host',
      )
    grants.set(scope, before ?? grant)
  }
  return [...grants.values()]
}

/** Two grants of one scope are about exactly the same requests. */
const scopeOf = (grant: HostGrant): string => {
  const paths = grant.paths.kind === 'all' ? grant.paths : grant.paths.items.map(({ text }) => text).sort()
  const methods = grant.methods.kind === 'all' ? grant.methods : [...grant.methods.items].sort()
  return JSON.stringify([renderDestination(grant), methods, paths])
}

const parseHostGrant = (node: PolicyNode): HostGrant => {
  if (typeof node.value === 'string') {
    const everything = { methods: { kind: 'all' }, paths: { kind: 'all' }, action: 'allow' } as const
    return { text: node.value, ...parseDestination(node.value, placeOf(node)), ...everything }
  }
  const { host, methods, paths, action } = mappingOf(node, ['host', 'methods', 'paths', 'action'])
  if (host === undefined) throw invalid(node, 'a host, or a mapping with the key "host"')
  const text = nodeText(host, 'a host')
  const grant: HostGrant = {
    text,
    ...parseDestination(text, placeOf(host)),
    methods: methods === undefined ? { kind: 'all' } : { kind: 'list', items: parseMethods(methods) },
    paths: paths === undefined ? { kind: 'all' } : { kind: 'list', items: parseUrlPaths(paths) },
    action: action === undefined ? 'allow' : oneOf(action, ACTIONS),
  }
  if (grant.action === 'direct' && (methods !== undefined || paths !== undefined))
    throw conflict(
      node,
      'methods and paths cannot be checked on a direct connection',
      'take out "methods" and "paths", or "action: direct"',
    )
  return grant
}

const parseMethods = (node: PolicyNode): readonly string[] =>
  someItemsOf(node, 'a list of HTTP methods').map((item) => {
    const method = nodeText(item, 'an HTTP method')
    if (!METHOD.test(method))
      throw invalid(
        item,
        'an HTTP method in upper case, such as GET',
        METHODS.includes(method.toUpperCase()) ? `write ${method.toUpperCase()}` : '',
      )
    // Servers may have methods of their own. A word close to a common method is misspelt, and would grant nothing.
    const near = METHODS.includes(method) ? undefined : nearestKey(method, COMMON_METHODS)
    if (near !== undefined) throw invalid(item, 'an HTTP method', `did you mean ${near}?`)
    return method
  })

const parseUrlPaths = (node: PolicyNode): readonly PathGlob[] =>
  someItemsOf(node, 'a list of URL paths').map((item) => {
    const text = nodeText(item, 'a URL path')
    if (!text.startsWith('/')) throw invalid(item, 'a URL path that starts with "/"')
    if (/[?#]/.test(text)) throw invalid(item, 'a URL path without query or fragment')
    return parsePathGlob(text, placeOf(item))
  })

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
