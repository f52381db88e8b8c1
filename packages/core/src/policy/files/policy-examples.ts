// Examples in a policy file: requests that it must allow, and requests that it must deny.
import { requestScopeOf } from '../resolve/resolve-policy.js'
import { compileNetwork } from '../compare/compile-network.js'
import { credentialsBoundTo, credentialsWithin } from '../credential.js'
import type { ToolPolicy } from '../model.js'
import { parseRequestHost } from '../network/network-request.js'
import type { NetworkRequest } from '../network/network-request.js'
import type { PolicyNode } from '../parse/policy-node.js'
import { invalid, itemsOf, mappingOf, rootNode, sourceOf, nodeText } from '../parse/policy-node.js'
import { readUrlPath } from '../network/url-path.js'

export interface PolicyExample {
  readonly text: string
  readonly at: string
  readonly request: NetworkRequest
  readonly isTls: boolean
  readonly expected: 'allowed' | 'denied'
  /** Ids of the credentials that the request must get. Undefined: not checked. */
  readonly credentials: readonly string[] | undefined
}

const FORM = '"METHOD URL", "stream HOST:PORT", or a mapping with "request" and "credentials"'

export const parseExamples = (node: PolicyNode, policy: ToolPolicy): readonly PolicyExample[] => {
  const { match, not_match: notMatch } = mappingOf(node, ['match', 'not_match'])
  const examplesIn = (list: PolicyNode | undefined, expected: PolicyExample['expected']) =>
    (list === undefined ? [] : itemsOf(list, 'a list of requests')).map((item) => parseExample(item, expected, policy))
  return [...examplesIn(match, 'allowed'), ...examplesIn(notMatch, 'denied')]
}

const parseExample = (node: PolicyNode, expected: PolicyExample['expected'], policy: ToolPolicy): PolicyExample => {
  const { request, credentials } =
    typeof node.value === 'string'
      ? { request: node, credentials: undefined }
      : mappingOf(node, ['request', 'credentials'])
  if (request === undefined) throw invalid(node, FORM)
  if (credentials !== undefined && expected === 'denied')
    throw invalid(credentials, 'left out: what is not allowed has none')
  const text = nodeText(request, FORM)
  const ids =
    credentials === undefined
      ? undefined
      : itemsOf(credentials, 'a list of ids of credentials').map((item) => knownId(item, policy))
  return { text, at: sourceOf(node), ...readRequest(text, request), expected, credentials: ids }
}

const knownId = (node: PolicyNode, policy: ToolPolicy): string => {
  const id = nodeText(node, 'the id of a credential')
  if (!policy.credentials.some((credential) => credential.id === id))
    throw invalid(node, 'the id of a credential of this policy')
  return id
}

const REQUEST =
  /^(?<method>[A-Z][A-Z-]*) (?<scheme>https?):\/\/(?<host>\[[^\]]*\]|[^/:?#@\s]+)(?::(?<port>\d{1,5}))?(?<path>\/[^?#\s]*)?(?:\?\S*)?$/
const STREAM = /^stream (?<host>\[[^\]]*\]|[^\s:]+):(?<port>\d{1,5})$/

/** Reads one request of the command line. */
export const parseRequest = (text: string, source: string): Pick<PolicyExample, 'request' | 'isTls'> =>
  readRequest(
    text,
    rootNode(text, () => source, 'the request'),
  )

const readRequest = (text: string, node: PolicyNode): Pick<PolicyExample, 'request' | 'isTls'> => {
  const { method, scheme, host: name = '', port, path = '/' } = (REQUEST.exec(text) ?? STREAM.exec(text))?.groups ?? {}
  const host = parseRequestHost(name)
  if (host === undefined) throw invalid(node, FORM, 'write it like GET https://api.example.org/v1/items')
  const isTls = scheme === 'https'
  const request: NetworkRequest = {
    host,
    port: port === undefined ? (isTls ? 443 : 80) : Number(port),
    use: method === undefined ? { kind: 'stream' } : { kind: 'http', method, paths: readUrlPath(path) },
  }
  return { request, isTls }
}

/** How an example fails, if it does. */
export const problemOfExample = (
  { request, isTls, expected, credentials }: PolicyExample,
  policy: ToolPolicy,
): string | undefined => {
  const answer = compileNetwork(requestScopeOf(policy)).answer(request)
  if (answer.kind !== expected)
    return expected === 'allowed' ? 'it should be allowed, and is not' : 'it should not be allowed, and is'
  if (credentials === undefined) return undefined
  const found = isTls ? credentialIdsFor(request, policy) : []
  const same = [...new Set(credentials)].sort().join() === found.toSorted().join()
  return same
    ? undefined
    : `it should carry ${credentials.join(', ') || 'no credential'}, and carries ${found.join(', ') || 'none'}`
}

/**
 * The ids of the credentials for a request over TLS. One with a placeholder is among them, although the proxy uses it
 * only if the tool sends the placeholder.
 */
export const credentialIdsFor = (
  request: NetworkRequest,
  { credentials }: Pick<ToolPolicy, 'credentials'>,
): readonly string[] => {
  const bound = credentialsBoundTo(credentials, request.host, request.port)
  const within = credentialsWithin(bound, (scope) => compileNetwork(scope).answer(request).kind === 'allowed')
  return [...new Set(within.map(({ id }) => id))]
}
