// The wire of revision 2026-07-28: no session, so every request says its version and the capabilities of its client.
// Names of methods and of fields of this revision are in this file alone.
import { fieldsOf, requestOf } from './messages.js'
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
  const meta = fieldsOf(params['_meta'])
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
): Fields => ({
  ...params,
  _meta: {
    ...fieldsOf(params['_meta']),
    [META.version]: STATELESS_REVISION,
    [META.capabilities]: capabilities,
    ...(info === undefined ? {} : { [META.client]: info }),
    ...(logLevel === undefined ? {} : { [META.logLevel]: logLevel }),
  },
})

const CLIENT_KEYS: ReadonlySet<string> = new Set([META.version, META.client, META.capabilities, META.logLevel])

/** Params for a server of an earlier revision. */
export const withoutClient = (params: Fields): Fields => {
  if (!('_meta' in params)) return params
  const { _meta, ...own } = params
  const meta = Object.entries(fieldsOf(_meta)).filter(([key]) => !CLIENT_KEYS.has(key))
  return meta.length === 0 ? own : { ...own, _meta: Object.fromEntries(meta) }
}

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
export const withAnswers = (params: Fields, inputResponses: Fields, state: unknown): Fields => ({
  ...params,
  inputResponses,
  ...(state === undefined ? {} : { requestState: state }),
})

/** The result of a server of an earlier revision. It may be kept for no time, and by nobody else. */
export const completed = (result: Fields, isCacheable: boolean): Fields => ({
  resultType: 'complete',
  ...(isCacheable ? { ttlMs: 0, cacheScope: 'private' } : {}),
  ...result,
})

/** The answer to `server/discover`, made of the answer to `initialize`. */
export const discovered = (introduction: Fields, supportedVersions: readonly string[]): Fields => {
  const { capabilities = {}, instructions, serverInfo } = introduction
  return completed(
    {
      supportedVersions,
      capabilities,
      ...(instructions === undefined ? {} : { instructions }),
      ...(serverInfo === undefined ? {} : { _meta: { [META.server]: serverInfo } }),
    },
    true,
  )
}

/** The answer to `initialize`, made of the answer to `server/discover`. */
export const introductionFrom = (discovery: Fields, protocolVersion: string, name: string): Fields => {
  const { capabilities = {}, instructions, _meta } = discovery
  return {
    protocolVersion,
    capabilities,
    serverInfo: fieldsOf(_meta)[META.server] ?? { name, version: '' },
    ...(instructions === undefined ? {} : { instructions }),
  }
}

/** What a client wants to hear of, in `subscriptions/listen`. */
export interface Wishes {
  readonly toolsListChanged: boolean
  readonly promptsListChanged: boolean
  readonly resourcesListChanged: boolean
  readonly resourceSubscriptions: readonly string[]
}

export const wishesIn = (params: Fields): Wishes => {
  const asked = fieldsOf(params['notifications'])
  const uris = asked['resourceSubscriptions']
  return {
    toolsListChanged: asked['toolsListChanged'] === true,
    promptsListChanged: asked['promptsListChanged'] === true,
    resourcesListChanged: asked['resourcesListChanged'] === true,
    resourceSubscriptions: Array.isArray(uris) ? uris.filter((uri): uri is string => typeof uri === 'string') : [],
  }
}

const LIST_CHANGES = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
} as const

/** The wishes that a server can fulfil. */
export const grantable = (wishes: Wishes, capabilities: Fields): Wishes => {
  const tells = (name: string, what: string) => fieldsOf(capabilities[name])[what] === true
  return {
    toolsListChanged: wishes.toolsListChanged && tells('tools', 'listChanged'),
    promptsListChanged: wishes.promptsListChanged && tells('prompts', 'listChanged'),
    resourcesListChanged: wishes.resourcesListChanged && tells('resources', 'listChanged'),
    resourceSubscriptions: tells('resources', 'subscribe') ? wishes.resourceSubscriptions : [],
  }
}

/** Whether a notification of a server is one of the wishes. */
export const isWished = (wishes: Wishes, method: string, params: Fields): boolean => {
  if (method === 'notifications/resources/updated')
    return wishes.resourceSubscriptions.some((uri) => uri === params['uri'])
  return method in LIST_CHANGES && wishes[LIST_CHANGES[method as keyof typeof LIST_CHANGES]]
}

/** Only the wishes that are there, as the wire has them. */
export const wishFields = (wishes: Wishes): Fields =>
  Object.fromEntries(
    Object.entries(wishes).filter(([, wish]) => (Array.isArray(wish) ? wish.length > 0 : wish === true)),
  )

export const listenTo = (id: MessageId, wishes: Wishes): Fields =>
  requestOf(id, LISTEN, { notifications: wishFields(wishes) })

/** Says to which `subscriptions/listen` a message belongs. */
export const ofSubscription = (params: Fields, id: MessageId): Fields => ({
  ...params,
  _meta: { ...fieldsOf(params['_meta']), [META.subscription]: id },
})

export const withoutSubscription = (params: Fields): Fields => {
  const { _meta, ...own } = params
  const meta = Object.entries(fieldsOf(_meta)).filter(([key]) => key !== META.subscription)
  return meta.length === 0 ? own : { ...own, _meta: Object.fromEntries(meta) }
}

export const subscriptionOf = (params: Fields): unknown => fieldsOf(params['_meta'])[META.subscription]
