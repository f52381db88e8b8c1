// Messages of JSON-RPC 2.0, one per line. A message keeps every field that it came with.
import { isMapping } from 'cordon/shapes'

import { namesCordon } from '../consent/look-alike.js'

export type Fields = Readonly<Record<string, unknown>>
export type MessageId = string | number

/** Gives a promise if the client is slow, which settles when it has caught up. */
export type SendToClient = (message: Fields) => Promise<void> | undefined

export const isId = (value: unknown): value is MessageId => typeof value === 'string' || typeof value === 'number'

export interface RequestMessage {
  readonly kind: 'request'
  readonly id: MessageId
  readonly method: string
  readonly fields: Fields
}

export interface NotificationMessage {
  readonly kind: 'notification'
  readonly method: string
  readonly fields: Fields
}

export interface AnswerMessage {
  readonly kind: 'answer'
  readonly id: MessageId
  readonly fields: Fields
}

export type Message = RequestMessage | NotificationMessage | AnswerMessage
/** `id`: of the request that it would answer. */
export type ReadMessage =
  Message | { readonly kind: 'garbage'; readonly problem: string; readonly id?: MessageId | undefined }

/** Error codes of JSON-RPC. `refused` is the one for an application. */
export const RPC_ERRORS = {
  parse: -32700,
  invalid: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  refused: -32000,
}

/** A line of a server also loses the keys that only Cordon may set. A line may hold several messages (2025-03-26). */
export const readLine = (line: string, from: 'client' | 'server'): readonly ReadMessage[] => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return [garbage('it is not JSON')]
  }
  if (stripOwnKeys(value, from === 'server' ? 'removed' : 'kept') === 'too-deep')
    return [garbage('it is nested too deeply', value)]
  if (!Array.isArray(value)) return [readValue(value, from)]
  return value.length > MOST_IN_A_LINE
    ? [garbage('it has too many messages')]
    : value.map((each) => readValue(each, from))
}

const MOST_IN_A_LINE = 10_000

const garbage = (problem: string, value?: unknown): ReadMessage => {
  const { id, method } = fieldsOf(value)
  return { kind: 'garbage', problem, id: isId(id) && method === undefined ? id : undefined }
}

const readValue = (value: unknown, from: 'client' | 'server'): ReadMessage => {
  if (!isMapping(value)) return garbage('it is not a JSON object')
  const { id, method, params } = value
  if (hasTwins(value) || (isMapping(params) && hasTwins(params)))
    return garbage('two of its keys differ only in case', value)
  if (typeof method === 'string')
    return isId(id) ? { kind: 'request', id, method, fields: value } : readNotification(method, value)
  if (!isId(id)) return garbage('it has neither a method nor an id')
  if ('result' in value === 'error' in value) return garbage('it has no result and no error, or both', value)
  // A client may answer with less: nobody but a server waits for it.
  if (from === 'server' && !isMapping(value['result'] ?? value['error']))
    return garbage('its result or error is not an object', value)
  return { kind: 'answer', id, fields: value }
}

/** A reader that ignores case could take another value than the one that was judged. */
const hasTwins = (value: Fields): boolean => {
  const keys = Object.keys(value)
  return new Set(keys.map((key) => key.toLowerCase())).size < keys.length
}

const readNotification = (method: string, fields: Fields): ReadMessage =>
  'id' in fields ? garbage('its id is neither a text nor a number') : { kind: 'notification', method, fields }

export const paramsOf = ({ fields: { params } }: { readonly fields: Fields }): Fields =>
  isMapping(params) ? params : {}

export const fieldsOf = (value: unknown): Fields => (isMapping(value) ? value : {})

export const metaOf = (params: Fields): Fields => fieldsOf(params['_meta'])

export const withMeta = (params: Fields, meta: Fields): Fields => ({
  ...params,
  _meta: { ...metaOf(params), ...meta },
})

/** `_meta` goes too if nothing is left in it. */
export const withoutMeta = (params: Fields, keys: readonly string[]): Fields => {
  const { _meta, ...own } = params
  const meta = Object.entries(fieldsOf(_meta)).filter(([key]) => !keys.includes(key))
  return meta.length === 0 ? own : { ...own, _meta: Object.fromEntries(meta) }
}

/** A field that should be a text. */
export const textField = (value: unknown, otherwise = ''): string => (typeof value === 'string' ? value : otherwise)

export const requestOf = (id: MessageId, method: string, params: Fields): Fields => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

export const notificationOf = (method: string, params: Fields): Fields => ({ jsonrpc: '2.0', method, params })

export const resultOf = (id: MessageId, result: Fields): Fields => ({ jsonrpc: '2.0', id, result })

/** An error as the protocol itself has it. Errors of Cordon are answered with their own words. */
export const errorOf = (id: MessageId, code: number, message: string, data?: Fields): Fields => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
})

/** Of the keys of `_meta` by which Cordon tells clients of its decisions. A server must not be able to set one. */
export const OWN_PREFIX = 'cordon/'

/** A prefix and a name have at most 63 letters each. Longer keys cost time to judge, and are removed too. */
const LONGEST_KEY = 256

/** By its prefix, also in letters that look like ours. */
const isOwn = (key: string): boolean => key.length > LONGEST_KEY || namesCordon(key.split(/[/:]/, 1)[0])

/** Deeper values could not be written again. */
const DEEPEST = 500

/** Changes the value, which was just parsed. `kept`: the keys stay, and only the depth is checked. */
const stripOwnKeys = (value: unknown, own: 'removed' | 'kept'): 'done' | 'too-deep' => {
  let level: readonly object[] = isObject(value) ? [value] : []
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) return 'too-deep'
    const next: object[] = []
    for (const each of level) {
      for (const child of Object.values(each)) if (isObject(child)) next.push(child)
      // Errors of Cordon have such keys in their data.
      const { _meta, data } = each as { readonly _meta?: unknown; readonly data?: unknown }
      for (const place of own === 'removed' ? [_meta, data] : [])
        if (isObject(place)) for (const key of Object.keys(place)) if (isOwn(key)) Reflect.deleteProperty(place, key)
    }
    level = next
  }
  return 'done'
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
