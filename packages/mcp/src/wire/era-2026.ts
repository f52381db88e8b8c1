// The wire of revision 2026-07-28: no session, so every request says its version and the capabilities of its client.
// Names of methods and of fields of this revision are in this file alone.
import { withoutUndefined } from 'cordon/shapes'

import { fieldsOf, metaOf, requestOf, withMeta, withoutMeta } from './messages.js'
import type { Fields, MessageId } from './messages.js'

export const STATELESS_REVISION = '2026-07-28'

const PREFIX = 'io.modelcontextprotocol/'

/** Keys of `_meta`. */
const META = {
  version: `${PREFIX}protocolVersion`,
  client: `${PREFIX}clientInfo`,
  capabilities: `${PREFIX}clientCapabilities`,
  logLevel: `${PREFIX}logLevel`,
  server: `${PREFIX}serverInfo`,
  subscription: `${PREFIX}subscriptionId`,
} as const

export const DISCOVER = 'server/discover'
export const LISTEN = 'subscriptions/listen'
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

export const STATELESS_ERRORS = { headerMismatch: -32020, missingCapability: -32021, unsupportedVersion: -32022 }

/** What one request says about its client. */
export interface RequestClient {
  readonly version: unknown
  readonly info: unknown
  readonly capabilities: unknown
  readonly logLevel: unknown
}

export const clientOf = (params: Fields): RequestClient => {
  const meta = metaOf(params)
  return {
    version: meta[META.version],
    info: meta[META.client],
    capabilities: meta[META.capabilities],
    logLevel: meta[META.logLevel],
  }
}

/** Params of a request for a server of this revision. */
export const withClient = (
  params: Fields,
  { info, capabilities, logLevel }: Omit<RequestClient, 'version'>,
): Fields => {
  const optional = withoutUndefined({ [META.client]: info, [META.logLevel]: logLevel })
  return withMeta(params, { [META.version]: STATELESS_REVISION, [META.capabilities]: capabilities, ...optional })
}

/** Params for a server of an earlier revision. */
export const withoutClient = (params: Fields): Fields =>
  withoutMeta(params, [META.version, META.client, META.capabilities, META.logLevel])

/** What is asked, without the answers to questions about it. */
export const withoutAnswers = (params: Fields): Fields => {
  const { inputResponses: _responses, requestState: _state, ...own } = params
  return own
}

/** A result that asks its client for something, and wants the same request again with the answers. */
export const inputRequired = (inputRequests: Fields, requestState: string): Fields => ({
  resultType: 'input_required',
  inputRequests,
  requestState,
})

export const asksInResult = (result: Fields): boolean => result['resultType'] === 'input_required'

/** The answers that a client gives with a request, and the state that it gives back. */
export const answersIn = (params: Fields): { readonly state: unknown; readonly responses: Fields } => ({
  state: params['requestState'],
  responses: fieldsOf(params['inputResponses']),
})

export const questionsIn = (result: Fields): { readonly state: unknown; readonly requests: Fields } => ({
  state: result['requestState'],
  requests: fieldsOf(result['inputRequests']),
})

/** The same request with answers. A state goes back exactly as it came. */
export const withAnswers = (params: Fields, inputResponses: Fields, requestState: unknown): Fields => ({
  ...params,
  inputResponses,
  ...withoutUndefined({ requestState }),
})

/** The result of a server of an earlier revision. It may be kept for no time, and by nobody else. */
export const completeResult = (result: Fields, isCacheable: boolean): Fields => ({
  resultType: 'complete',
  ...(isCacheable ? { ttlMs: 0, cacheScope: 'private' } : {}),
  ...result,
})

/** The answer to `server/discover`, made of the answer to `initialize`. */
export const discoveryAnswer = (introduction: Fields, supportedVersions: readonly string[]): Fields => {
  const { capabilities = {}, instructions, serverInfo } = introduction
  const _meta = serverInfo === undefined ? undefined : { [META.server]: serverInfo }
  return completeResult({ supportedVersions, capabilities, ...withoutUndefined({ instructions, _meta }) }, true)
}

/** The answer to `initialize`, made of the answer to `server/discover`. */
export const introductionFrom = (discovery: Fields, protocolVersion: string, name: string): Fields => {
  const { capabilities = {}, instructions, _meta } = discovery
  return {
    protocolVersion,
    capabilities,
    serverInfo: fieldsOf(_meta)[META.server] ?? { name, version: '' },
    ...withoutUndefined({ instructions }),
  }
}

/** Lists of a server whose changes clients can hear of, in `subscriptions/listen`. */
const CHANGING = ['tools', 'prompts', 'resources'] as const

/** What a client wants to hear of. */
export interface Wishes {
  readonly lists: readonly (typeof CHANGING)[number][]
  readonly resources: readonly string[]
}

/** Everything that a server can tell of its lists. */
export const wishesFor = (resources: Iterable<string>): Wishes => ({ lists: CHANGING, resources: [...resources] })

export const wishesIn = (params: Fields): Wishes => {
  const asked = fieldsOf(params['notifications'])
  const uris = asked['resourceSubscriptions']
  return {
    lists: CHANGING.filter((list) => asked[`${list}ListChanged`] === true),
    resources: Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [],
  }
}

/** The wishes that a server can fulfil. */
export const grantable = ({ lists, resources }: Wishes, capabilities: Fields): Wishes => {
  const tells = (name: string, what: string) => fieldsOf(capabilities[name])[what] === true
  return {
    lists: lists.filter((list) => tells(list, 'listChanged')),
    resources: tells('resources', 'subscribe') ? resources : [],
  }
}

/** Whether a notification of a server is one of the wishes. */
export const isWished = ({ lists, resources }: Wishes, method: string, params: Fields): boolean =>
  method === 'notifications/resources/updated'
    ? resources.some((uri) => uri === params['uri'])
    : lists.some((list) => method === `notifications/${list}/list_changed`)

/** Only the wishes that are there, as the wire has them. */
export const wishFields = ({ lists, resources }: Wishes): Fields => ({
  ...Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true])),
  ...(resources.length === 0 ? {} : { resourceSubscriptions: resources }),
})

export const listenTo = (id: MessageId, wishes: Wishes): Fields =>
  requestOf(id, LISTEN, { notifications: wishFields(wishes) })

/** Says to which `subscriptions/listen` a message belongs. */
export const ofSubscription = (params: Fields, id: MessageId): Fields => withMeta(params, { [META.subscription]: id })

export const withoutSubscription = (params: Fields): Fields => withoutMeta(params, [META.subscription])

export const subscriptionOf = (params: Fields): unknown => metaOf(params)[META.subscription]
