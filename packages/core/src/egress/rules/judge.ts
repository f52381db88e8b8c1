import { compileNetwork, readUrlPath } from '../../policy/index.js'
import type { Boundary, CompiledNetwork, HostGrant, NetworkAnswer, PathReadings } from '../../policy/index.js'
import type { Endpoint } from '../endpoint.js'
import type { ExchangeRequest } from '../http/exchange.js'
import type { HeaderList } from '../http/header-list.js'
import { headersLike } from '../http/header-list.js'

import type { Denial } from './denial.js'
import { denial, grantLine } from './denial.js'
import { PATH_OVERRIDES, mayBeMethod } from './overrides.js'

export interface Judge {
  readonly connection: (endpoint: Endpoint) => Admission | Denial
  readonly request: (endpoint: Endpoint, request: JudgedRequest) => RequestGrant | Denial
}

/**
 * - `http`: requests alone, each of them judged
 * - `stream`: requests are judged; what is no HTTP may pass, too
 * - `direct`: nobody looks into its TLS; without TLS it is like the others
 */
export interface Admission {
  readonly kind: 'admission'
  readonly treatment: 'http' | 'stream' | 'direct'
  /** Whether other protocols than HTTP may pass. */
  readonly mayBeOther: boolean
}

export interface RequestGrant {
  readonly kind: 'grant'
  /** The granting entry as written, or `all`. */
  readonly rule: string
}

export type JudgedRequest = Pick<ExchangeRequest, 'method' | 'target' | 'headers' | 'wantsWebSocket' | 'body'>

export interface Terms {
  readonly network: Pick<Boundary, 'network' | 'egressClass'>
  readonly writeApproval: 'recorded' | 'none'
}

export const createJudge = ({ network, writeApproval }: Terms): Judge => {
  const isUnapproved = network.egressClass.level === 'write' && writeApproval === 'none'
  // Without an approval the call may do what `read_only` permits.
  const compiled = compileNetwork(
    isUnapproved ? { ...network, egressClass: { ...network.egressClass, level: 'read_only' } } : network,
  )
  return {
    connection: (endpoint) => {
      const treatment = compiled.connection(endpoint.host, endpoint.port)
      if (treatment === undefined) {
        const closing = compiled.closedBy(endpoint.host, endpoint.port)
        return closing === undefined
          ? denial('not-granted', 'this destination is not granted', grantLine(endpoint))
          : deniedBy(closing)
      }
      const mayBeOther = compiled.answer({ ...endpoint, use: { kind: 'stream' } }).kind === 'allowed'
      return { kind: 'admission', treatment, mayBeOther }
    },
    request: (endpoint, request) => judgeRequest(compiled, endpoint, request, isUnapproved),
  }
}

/** Each is judged separately, and a URL has room for thousands. */
const MOST_METHODS = 16

const judgeRequest = (
  compiled: CompiledNetwork,
  endpoint: Endpoint,
  { method, target, headers, wantsWebSocket, body }: JudgedRequest,
  isUnapproved: boolean,
): RequestGrant | Denial => {
  if (method === 'TRACE' || method === 'CONNECT') return denial('protocol', `the method ${method} is never passed on`)
  const end = target.indexOf('?')
  const path = end === -1 ? target : target.slice(0, end)
  const otherPath = headersLike(headers, PATH_OVERRIDES)[0]?.[0]
  const asked = otherPath !== undefined ? 'ambiguous' : readUrlPath(path)
  const methods = new Set([
    method,
    ...otherMethods(target, headers),
    // After the handshake a WebSocket can change as much as any request.
    ...(wantsWebSocket ? ['POST'] : []),
  ])
  if (methods.size > MOST_METHODS) return denial('malformed', 'it names more methods than any request has')
  const answers = [...methods].map((each) =>
    compiled.answer({ ...endpoint, use: { kind: 'http', method: each, paths: asked } }),
  )
  const refused = answers.find((answer) => answer.kind === 'denied')
  if (refused !== undefined)
    return explain(refused, endpoint, { method, path, otherPath, readings: asked }, isUnapproved)
  if (WITHOUT_BODY.includes(method) && body !== undefined && body.length !== 0 && compiled.isRestricted(endpoint))
    return denial('malformed', `a ${method} with a body may be read as another request, and only some are granted`)
  return { kind: 'grant', rule: ruleOf(answers[0]) }
}

/** Some frameworks take the method of a request from its body, and some servers read a body of these as a request. */
const WITHOUT_BODY = ['GET', 'HEAD']

/** Divided at `&` and `;`, as servers do. Entries of a list count as the list. */
const parametersOf = (target: string): readonly (readonly [string, string])[] =>
  [...new URLSearchParams(target.replace(/^[^?]*\??/, '').replaceAll(';', '&'))].map(
    ([name, value]) => [name.replace(/\[.*$/s, ''), value] as const,
  )

/** Other methods that a server may read in the request. */
const otherMethods = (target: string, headers: HeaderList): readonly string[] =>
  [...headers, ...parametersOf(target)]
    .filter(([name, value]) => mayBeMethod(name, value))
    .map(([, value]) => value)
    .flatMap((value) => value.split(','))
    .map((value) => value.trim().toUpperCase())

const ruleOf = (answer: NetworkAnswer | undefined): string =>
  answer?.kind === 'allowed' && answer.entry !== undefined ? renderRule(answer.entry) : 'all'

const renderRule = ({ text, methods, paths }: HostGrant): string => {
  const parts = [
    methods.kind === 'list' ? ` ${methods.items.join('|')}` : '',
    paths.kind === 'list' ? ` ${paths.items.map((glob) => glob.text).join(' ')}` : '',
  ]
  return `${text}${parts.join('')}`
}

const deniedBy = (entry: HostGrant): Denial =>
  denial('denied', `an entry of the policy denies it: ${renderRule(entry)}`)

const explain = (
  answer: Extract<NetworkAnswer, { kind: 'denied' }>,
  endpoint: Endpoint,
  asked: { method: string; path: string; otherPath: string | undefined; readings: PathReadings },
  isUnapproved: boolean,
): Denial => {
  if (answer.because === 'entry') return deniedBy(answer.entry)
  if (answer.because === 'read-only') {
    return isUnapproved
      ? denial('unapproved', `${asked.method} may change something, and no approval was recorded`)
      : denial('read-only', `only GET, HEAD and OPTIONS are granted`, 'egress_class: write')
  }
  if (asked.otherPath !== undefined)
    return denial('not-granted', `its header ${asked.otherPath} may name another path, and only some paths are granted`)
  if (asked.readings === 'ambiguous')
    return denial('not-granted', 'its path can be read in more than one way, and only some paths are granted')
  if (asked.readings.length > 1)
    return denial(
      'not-granted',
      `servers read its path in more than one way, and not every reading is granted: ${shortListOf(asked.readings)}`,
    )
  return denial('not-granted', 'this request is not granted', grantLine(endpoint, asked))
}

const shortListOf = (paths: readonly string[]): string =>
  `${paths
    .slice(0, 4)
    .map((path) => path.slice(0, 100))
    .join(', ')}${paths.length > 4 ? ', …' : ''}`
