// The section `credentials`: how secrets are used. A policy never has their values or the places of those: such a key
// is an unknown key.
import { requestScopeOf } from '../resolve/resolve-policy.js'
import { canonicalCredentials } from '../resolve/canonical-policy.js'
import type { Credential, Injection } from '../credential.js'
import { coversDestination, includesHosts } from '../network/covers-host.js'
import type { Endpoint } from '../network/host-grant.js'
import { parseDestination, renderDestination } from '../network/host-grant.js'
import { itemsIn } from '../model.js'
import type { ToolPolicy } from '../model.js'
import type { PolicyNode } from './policy-node.js'
import { conflict, invalid, itemsOf, mappingOf, oneOf, placeOf, required, someItemsOf } from './policy-node.js'
import { nodeText } from './policy-node.js'

export const CREDENTIAL_ID = '^[a-z0-9][a-z0-9._-]{0,63}$'
export const HEADER_NAME = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"
export const HEADER_FORMAT = '^(?=.*\\{value\\})[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$'
export const VARIABLE_NAME = '^[A-Za-z_][A-Za-z0-9_]*$'
/** A short text could occur by chance. */
export const STAND_IN = '^[\\x21-\\x7e]{8,256}$'
/** User names of HTTP have no colon. */
export const BASIC_USER = '^[^:\\x00-\\x1f\\x7f]*$'
export const WORD = '^[A-Za-z0-9_.-]+$'
export const PARAMETER = '^[A-Za-z0-9_.~-]+$'

/** Headers that frame or route a message. Setting one would rewrite the request. */
export const RESERVED_HEADERS = (
  'host content-length transfer-encoding connection upgrade te trailer keep-alive proxy-authorization ' +
  'proxy-connection expect content-encoding content-type'
).split(' ')

/** The keys of each way to inject, besides `host` and `as`. */
export const INJECTION_KEYS = {
  'bearer': [],
  'header': ['header', 'format'],
  'basic': ['user'],
  'query': ['parameter'],
  'placeholder': [],
  'client-certificate': [],
  'aws-sigv4': ['service', 'region'],
} as const

type InjectionKind = keyof typeof INJECTION_KEYS
const INJECTIONS = Object.keys(INJECTION_KEYS) as readonly InjectionKind[]

/** The sections that the credentials of a policy depend on. */
type Around = Pick<ToolPolicy, 'network' | 'egressClass' | 'environment'>

export const parseCredentials = (node: PolicyNode | undefined, around: Around): readonly Credential[] => {
  if (node === undefined || node.value === 'none') return []
  const byId = new Map<string, readonly Credential[]>()
  for (const item of itemsOf(node, '"none" or a list of credentials')) {
    const parsed = parseCredential(item, around)
    const id = parsed[0]?.id ?? ''
    const before = byId.get(id)
    if (before !== undefined && canonicalCredentials(before) !== canonicalCredentials(parsed))
      throw conflict(
        item,
        `the credential "${id}" is already given with other contents`,
        'a credential for several hosts has one id and a list under "inject"; another credential needs another id',
      )
    byId.set(id, parsed)
  }
  return [...byId.values()].flat()
}

const parseCredential = (node: PolicyNode, around: Around): readonly Credential[] => {
  const { id: idNode, inject, placeholder: standIn } = mappingOf(node, ['id', 'inject', 'placeholder'])
  const incomplete = (hint: string) => invalid(node, 'a mapping with the keys "id" and "inject"', hint)
  if (idNode === undefined) throw incomplete('give it a name: id: my-token')
  const id = textMatching(idNode, CREDENTIAL_ID, 'a name of lower-case letters, digits, ".", "_" and "-"')
  if (inject === undefined)
    throw incomplete(
      'say where it belongs: inject: { host: api.example.org, header: Authorization, format: "Bearer {value}" }',
    )
  const placeholder = standIn === undefined ? undefined : parsePlaceholder(standIn, id, around.environment)
  const injections = Array.isArray(inject.value) ? someItemsOf(inject, 'a mapping or a list') : [inject]
  const scope = requestScopeOf(around)
  return injections.map((each) => {
    const parsed = parseInjection(each, around.network)
    if (parsed.inject.kind === 'placeholder' && placeholder === undefined)
      throw invalid(
        node,
        'a credential with a "placeholder", because it is put in place of that',
        'add placeholder: NAME_OF_A_VARIABLE',
      )
    return { id, ...parsed, scope, placeholder }
  })
}

const parsePlaceholder = (
  node: PolicyNode,
  id: string,
  environment: Around['environment'],
): NonNullable<Credential['placeholder']> => {
  const NAME = 'the name of a variable'
  const parts = typeof node.value === 'string' ? { name: node, text: undefined } : mappingOf(node, ['name', 'text'])
  if (parts.name === undefined) throw invalid(node, `${NAME}, or a mapping with the keys "name" and "text"`)
  const name = textMatching(parts.name, VARIABLE_NAME, NAME)
  const text =
    parts.text === undefined
      ? `placeholder-for-${id}`
      : textMatching(parts.text, STAND_IN, 'a text of 8 to 256 visible characters')
  if (itemsIn(environment).some((entry) => entry.name === name))
    throw conflict(
      node,
      `${name} is also in environment, which would give the tool another value than the stand-in`,
      `leave ${name} out of environment`,
    )
  return { name, text }
}

const parseInjection = (node: PolicyNode, network: Around['network']): Pick<Credential, 'hosts' | 'inject'> => {
  const kind = kindOf(node)
  const entries = mappingOf(node, ['host', 'as', ...INJECTION_KEYS[kind]])
  const host = required(node, entries, 'host', 'name the host for which it is used')
  return { hosts: parseHosts(host, network), inject: readInjection(kind, node, entries) }
}

/** Without `as` it must be a header. */
const kindOf = (node: PolicyNode): InjectionKind => {
  const { as, header } = mappingOf(node, ['host', 'as', ...new Set(Object.values(INJECTION_KEYS).flat())])
  if (as !== undefined) return oneOf(as, INJECTIONS)
  if (header === undefined)
    throw invalid(
      node,
      `a mapping with "as" (one of: ${INJECTIONS.join(', ')}) or "header"`,
      'add as: bearer, or header: NAME',
    )
  return 'header'
}

const readInjection = (
  kind: InjectionKind,
  node: PolicyNode,
  entries: Readonly<Partial<Record<string, PolicyNode>>>,
): Injection => {
  const optional = (key: string, pattern: string, expected: string): string | undefined =>
    entries[key] === undefined ? undefined : textMatching(entries[key], pattern, expected)
  const word = (key: string) => optional(key, WORD, 'a word of letters, digits, ".", "_" and "-"')
  switch (kind) {
    case 'bearer':
      return { kind: 'header', name: 'Authorization', format: 'Bearer {value}' }
    case 'header': {
      const header = required(node, entries, 'header', 'name the header: header: X-Api-Key')
      const name = textMatching(header, HEADER_NAME, 'the name of a header')
      if (RESERVED_HEADERS.includes(name.toLowerCase()))
        throw invalid(header, 'a header that carries a credential', 'this one leads the request itself')
      const format = optional('format', HEADER_FORMAT, 'a text with {value} in it, such as "Bearer {value}"')
      return { kind, name, format: format ?? '{value}' }
    }
    case 'basic':
      return { kind, user: optional('user', BASIC_USER, 'the name of a user, without a colon') ?? '' }
    case 'query': {
      const parameter = required(node, entries, 'parameter', 'name the parameter of the URL: parameter: key')
      return { kind, parameter: textMatching(parameter, PARAMETER, 'the name of a parameter') }
    }
    case 'placeholder':
    case 'client-certificate':
      return { kind }
    case 'aws-sigv4':
      return { kind, service: word('service'), region: word('region') }
  }
}

const parseHosts = (node: PolicyNode, network: Around['network']): Credential['hosts'] => {
  const items = Array.isArray(node.value) ? itemsOf(node, 'a list of hosts') : [node]
  if (items.length === 0) throw invalid(node, 'a host or a list with at least one host')
  return items.map((item) => {
    const host = parseDestination(nodeText(item, 'a host'), placeOf(item))
    refuseUnreached(item, host, network)
    return host
  })
}

/** A credential is for hosts that its own policy grants, so that no other policy can send it elsewhere. */
const refuseUnreached = (node: PolicyNode, host: Endpoint, network: Around['network']): void => {
  const entry = renderDestination(host)
  const unreached = (what: string, fix: string) => conflict(node, `${entry} ${what}`, fix)
  if (network.kind === 'all')
    throw unreached('cannot be reached through the proxy where network is all', `list the hosts: network: [ ${entry} ]`)
  const granted = itemsIn(network).filter(({ action }) => action !== 'deny')
  const covering = granted.filter((each) => coversDestination(each, host))
  if (covering.length === 0) {
    const elsewhere = granted.find((each) => includesHosts(each.destination, host.destination))
    throw unreached(
      'is not granted by network of the same policy; a credential is used only where its own policy leads',
      elsewhere === undefined
        ? `grant it there: network: [ ${entry} ]`
        : `name the port that network grants: host: ${renderDestination({ ...host, port: elsewhere.port })}`,
    )
  }
  if (covering.every(({ action }) => action === 'direct'))
    throw unreached(
      'is direct: nothing can be put into a connection that nobody looks into',
      'take "action: direct" out of the entry of that host',
    )
}

const textMatching = (node: PolicyNode, pattern: string, expected: string): string => {
  const text = nodeText(node, expected)
  if (new RegExp(pattern, 'u').test(text)) return text
  // The text may be a secret, written into the policy by mistake. It must not get into a log too.
  const hint =
    'a policy has no values of secrets in it; they are given by --secret, or in ~/.config/cordon/secrets.yaml'
  throw invalid(node, expected, hint, `these ${text.length} characters`)
}
