// The wire of the revisions 2024-11-05 to 2025-11-25: a session that begins with `initialize`. Names of methods and of
// fields of these revisions are in this file alone.
import type { CordonError } from 'cordon/errors'

import type { OfferKind } from '../consent/index.js'
import { OWN_PREFIX, RPC_ERRORS, fieldsOf, metaOf, textField, withMeta } from './messages.js'
import type { Fields, MessageId } from './messages.js'

export const METHODS = {
  initialize: 'initialize',
  initialized: 'notifications/initialized',
  ping: 'ping',
  listTools: 'tools/list',
  callTool: 'tools/call',
  readResource: 'resources/read',
  subscribe: 'resources/subscribe',
  unsubscribe: 'resources/unsubscribe',
  getPrompt: 'prompts/get',
  complete: 'completion/complete',
  setLevel: 'logging/setLevel',
  cancelled: 'notifications/cancelled',
  progress: 'notifications/progress',
  rootsChanged: 'notifications/roots/list_changed',
  logMessage: 'notifications/message',
  listRoots: 'roots/list',
} as const

/** A call without an id would pass the gate, so clients may send only these without one. */
export const isNotification = (method: string): boolean => method.startsWith('notifications/')

/** What a server may tell its client unasked. Hosts show some others to the model. */
export const TOLD_BY_SERVERS: ReadonlySet<string> = new Set([
  METHODS.cancelled,
  METHODS.progress,
  METHODS.logMessage,
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/elicitation/complete',
  'notifications/tasks/status',
])

export const LATEST_REVISION = '2025-11-25'
export const REVISIONS: ReadonlySet<string> = new Set(['2024-11-05', '2025-03-26', '2025-06-18', LATEST_REVISION])

export const SESSION_HEADER = 'mcp-session-id'

/** Requests during which a server may ask its client for something. */
export const MULTI_ROUND: ReadonlySet<string> = new Set([METHODS.callTool, METHODS.getPrompt, METHODS.readResource])

/** Requests that later revisions do not have. */
export const REMOVED: ReadonlySet<string> = new Set([
  METHODS.initialize,
  METHODS.ping,
  METHODS.setLevel,
  METHODS.subscribe,
  METHODS.unsubscribe,
])

/** What a server may ask its client for: the name in capabilities, and the method. */
const CLIENT_FEATURES = {
  sampling: 'sampling/createMessage',
  elicitation: 'elicitation/create',
  roots: METHODS.listRoots,
} as const
export const ELICIT = CLIENT_FEATURES.elicitation
export type ClientFeature = keyof typeof CLIENT_FEATURES
export const CLIENT_FEATURE_NAMES = Object.keys(CLIENT_FEATURES) as readonly ClientFeature[]

export const featureOf = (method: string): ClientFeature | undefined =>
  CLIENT_FEATURE_NAMES.find((name) => CLIENT_FEATURES[name] === method)

interface ServerList {
  /** The field of the answer. */
  readonly field: string
  readonly capability: string
  /** What its entries are, if models read them. */
  readonly offer?: OfferKind
}

export const LISTS: Readonly<Record<string, ServerList>> = {
  [METHODS.listTools]: { field: 'tools', capability: 'tools', offer: 'tool' },
  'prompts/list': { field: 'prompts', capability: 'prompts', offer: 'prompt' },
  'resources/list': { field: 'resources', capability: 'resources' },
  'resources/templates/list': { field: 'resourceTemplates', capability: 'resources', offer: 'resource-template' },
}

/** The params of `initialize` for a server. */
export const introduce = (params: Fields, allowed: ReadonlySet<ClientFeature>): Fields => ({
  ...params,
  capabilities: allowedOf(fieldsOf(params['capabilities']), allowed),
})

/** Capabilities of a client without the features that a server may not use. */
export const allowedOf = (capabilities: Fields, allowed: ReadonlySet<ClientFeature>): Fields =>
  Object.fromEntries(Object.entries(capabilities).filter(([name]) => !isFeature(name) || allowed.has(name)))

const isFeature = (name: string): name is ClientFeature => CLIENT_FEATURE_NAMES.some((each) => each === name)

/** One answer to `initialize` for several servers. Tasks are left out: their ids do not name a server. */
export const introduceTogether = (
  servers: readonly { readonly server: string; readonly result: Fields }[],
  version: string,
): Fields => {
  const capabilities: Record<string, Fields> = {}
  for (const { result } of servers)
    for (const [name, value] of Object.entries(fieldsOf(result['capabilities'])))
      if (name !== 'tasks') capabilities[name] = { ...capabilities[name], ...onlyTrue(fieldsOf(value)) }
  const instructions = servers.flatMap(({ server, result }) =>
    typeof result['instructions'] === 'string' ? [`${server}: ${result['instructions']}`] : [],
  )
  const versions = servers
    .map(({ result }) => textField(result['protocolVersion']))
    .filter((each) => REVISIONS.has(each))
  return {
    protocolVersion: versions.sort()[0] ?? LATEST_REVISION,
    capabilities,
    serverInfo: { name: 'cordon', version },
    ...(instructions.length === 0 ? {} : { instructions: instructions.join('\n\n') }),
  }
}

/** A `false` of one server must not hide the `true` of another. */
const onlyTrue = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, is]) => is !== false))

/** The token that progress notifications of a request carry. */
export const progressTokenOf = (params: Fields): unknown => metaOf(params)['progressToken']

export const withProgressToken = (params: Fields, progressToken: MessageId): Fields =>
  withMeta(params, { progressToken })

/** An error of Cordon as an answer. The model's words are the message, because hosts show it to the model. */
export const errorAnswer = (id: MessageId, { code, agentMessage }: CordonError, rpc = RPC_ERRORS.refused): Fields => ({
  jsonrpc: '2.0',
  id,
  error: { code: rpc, message: agentMessage, data: { [`${OWN_PREFIX}error`]: code } },
})

/** The result of a call that did not run, or gave none: the model reads the reason. */
export const refusedResult = (reason: string, facts: Fields): Fields => ({
  content: [{ type: 'text', text: reason }],
  isError: true,
  _meta: Object.fromEntries(Object.entries(facts).map(([name, value]) => [`${OWN_PREFIX}${name}`, value])),
})

const ANSWERS = {
  reject: 'No',
  once: 'Yes, this once',
  session: 'Yes, this tool with exactly these arguments, for this session',
} as const

/** A question that one of three words answers. */
export const approvalQuestion = (message: string): Fields => ({
  message,
  requestedSchema: {
    type: 'object',
    properties: {
      answer: { type: 'string', title: 'Answer', enum: Object.keys(ANSWERS), enumNames: Object.values(ANSWERS) },
    },
    required: ['answer'],
  },
})

/** Anything but a clear yes is a no. */
export const approvalWord = (result: Fields | undefined): keyof typeof ANSWERS => {
  const answer = fieldsOf(result?.['content'])['answer']
  return result?.['action'] === 'accept' && (answer === 'once' || answer === 'session') ? answer : 'reject'
}

/** Puts the name of the server into the message, because clients show only the message. */
export const signElicitation = (params: Fields, server: string): Fields => ({
  ...params,
  message: `The MCP server "${server}" asks: ${textField(params['message'])}`,
})
