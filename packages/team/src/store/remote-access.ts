// Access to a store through a Cordon server.
import { Agent, request as requestHttp } from 'node:http'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { Agent as TlsAgent, request as requestHttps } from 'node:https'
import { isAbsolute, resolve } from 'node:path'

import { CordonError, messageOf } from 'cordon/errors'
import { withoutUndefined } from 'cordon/shapes'

import { ALL_ERRORS, fail } from '../errors/errors.js'
import type { StoreAccess, Following, MarkedAnswer } from './open-registry.js'
import { readFields } from './operations/field.js'
import { operationOf } from './operations/index.js'
import type { AnyOperation, RequestFields } from './operations/index.js'
import { jsonText } from './registry/statements.js'

export interface ServerSettings {
  /** `https://host:port`, `http://127.0.0.1:port`, or `unix:/path/of/socket`. */
  readonly server: string
  readonly token?: string
  /** The member to act as. Only the owner of the store may set it, through the socket. */
  readonly actor?: string
  /** More trusted certificates, in PEM. */
  readonly authorities?: readonly string[]
}

/** In addition to the time that the server was asked to wait. */
const ANSWER_MS = 30_000
const MOST_BYTES = 64 * 1024 * 1024

interface Place {
  readonly where: string
  readonly start: (
    options: RequestOptions,
    answered: (answer: IncomingMessage) => void,
  ) => ReturnType<typeof requestHttp>
  readonly close: () => void
}

export const openRemoteAccess = (settings: ServerSettings): StoreAccess => {
  const place = placeOf(settings)
  const exchange = (operation: AnyOperation, given: RequestFields, following?: Following) =>
    send(place, settings, operation, given, following)
  return {
    where: place.where,
    ask: async (name, given) => {
      const operation = operationOf(name)
      return (await exchange(operation, readFields(operation.fields, given)))?.answer as never
    },
    follow: async (name, given, following) => (await exchange(operationOf(name), given, following)) as never,
    grow: async (name, given, told, signal) => grow(place, settings, operationOf(name), given, told, signal),
    close: () => {
      place.close()
      return Promise.resolve()
    },
  }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

const placeOf = ({ server, token, authorities }: ServerSettings): Place => {
  if (server.startsWith('unix:')) {
    const socketPath = server.slice('unix:'.length)
    if (!isAbsolute(socketPath))
      throw unusable(server, `the path of a socket begins with /, as in unix:${resolve(socketPath)}`)
    return connectTo(server, requestHttp, new Agent({ keepAlive: true }), { socketPath, host: 'localhost' })
  }
  const url = URL.canParse(server) ? new URL(server) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw unusable(server, 'it is none of https://HOST:PORT, http://127.0.0.1:PORT, unix:PATH')
  if (url.username !== '' || url.password !== '' || url.pathname !== '/' || url.search !== '')
    throw unusable(url.origin, 'its address has more in it than host and port')
  if (url.protocol === 'http:' && token !== undefined && !LOOPBACK.test(url.hostname))
    throw fail('token-unsafe', {
      problem: `it would go to ${url.host} in the clear`,
      fix: 'use https://, or a tunnel to 127.0.0.1',
    })
  const target = { protocol: url.protocol, host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port }
  return url.protocol === 'http:'
    ? connectTo(url.origin, requestHttp, new Agent({ keepAlive: true }), target)
    : connectTo(
        url.origin,
        requestHttps,
        new TlsAgent({ keepAlive: true, ...(authorities === undefined ? {} : { ca: [...authorities] }) }),
        target,
      )
}

const connectTo = (where: string, request: typeof requestHttp, agent: Agent, target: RequestOptions): Place => ({
  where,
  start: (options, answered) => request({ ...options, ...target, agent }, answered),
  close: () => {
    agent.destroy()
  },
})

const OK = 200
const NO_CONTENT = 204
const NOT_MODIFIED = 304

type Headers = Readonly<Record<string, string>>

/** Resolves with the answer as it begins. A server that is silent for so long ends it with an error. */
const begin = (
  place: Place,
  { token, actor }: ServerSettings,
  { method, path, fields }: AnyOperation,
  given: RequestFields,
  {
    headers,
    silence,
    ...options
  }: Pick<RequestOptions, 'timeout' | 'signal'> & { readonly headers: Headers; readonly silence: string },
): Promise<IncomingMessage> => {
  const inPath = new Set(Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name))
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given[name])))
  const rest = Object.keys(fields).filter((name) => !inPath.has(name) && given[name] !== undefined)
  const query = rest.map((name) => `${name}=${encodeURIComponent(String(given[name]))}`).join('&')
  const body =
    method === 'POST'
      ? Buffer.from(jsonText(Object.fromEntries(rest.map((name) => [name, given[name]])), 'the request'))
      : undefined
  const all = {
    ...headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(actor === undefined ? {} : { 'cordon-actor': actor }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(body.byteLength) }),
  }
  const target = body !== undefined || query === '' ? filled : `${filled}?${query}`
  return new Promise((resolve, reject) => {
    let begun: IncomingMessage | undefined
    const sent = place.start({ ...options, method, path: target, headers: all }, (answer) => {
      begun = answer
      resolve(answer)
    })
    sent.on('timeout', () => (begun ?? sent).destroy(new Error(silence)))
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Errors of the connection as errors of Cordon. */
const reaching = async <Result>(
  where: string,
  signal: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason
    throw error instanceof CordonError ? error : unusable(where, messageOf(error), error)
  }
}

const send = async (
  place: Place,
  settings: ServerSettings,
  operation: AnyOperation,
  given: RequestFields,
  { known, waitMs = 0, signal }: Partial<Following> = {},
): Promise<MarkedAnswer<unknown> | undefined> => {
  const wait = `wait=${String(Math.ceil(waitMs / 1000))}`
  const { status, headers, text } = await reaching(place.where, signal, async () => {
    const answer = await begin(place, settings, operation, given, {
      headers: {
        accept: 'application/json',
        ...(known === undefined ? {} : { 'if-none-match': `"${known}"`, 'prefer': wait }),
      },
      ...withoutUndefined({ signal }),
      timeout: ANSWER_MS + waitMs,
      silence: 'it does not answer',
    })
    return { status: answer.statusCode ?? 0, headers: answer.headers, text: await textOf(answer) }
  })
  if (status === NOT_MODIFIED) return undefined
  if (status === NO_CONTENT) return { answer: null, mark: '' }
  const answer = parsed(text)
  if (status !== OK) throw problemOf(answer, status, place.where)
  if (answer === undefined) throw unusable(place.where, 'its answer is not valid JSON')
  return { answer, mark: (headers.etag ?? '').replaceAll('"', '') }
}

const textOf = async (answer: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    size += chunk.byteLength
    if (size > MOST_BYTES) throw new Error('its answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** A live server sends something more often. */
const SILENT_MS = 45_000

/** Resolves with the last item, or undefined if the server ended earlier. Then go on after the last mark. */
const grow = (
  place: Place,
  settings: ServerSettings,
  operation: AnyOperation,
  given: RequestFields,
  told: (mark: string, item: unknown) => void,
  signal: AbortSignal,
): Promise<unknown> =>
  reaching(place.where, signal, async () => {
    const answer = await begin(place, settings, operation, given, {
      headers: { accept: 'text/event-stream' },
      signal,
      timeout: SILENT_MS,
      silence: 'it sends nothing any more',
    })
    const { statusCode: status = 0, headers } = answer
    if (status !== OK || headers['content-type'] !== 'text/event-stream')
      throw problemOf(parsed(await textOf(answer)), status, place.where)
    let last: unknown
    const read = readEvents(({ id, event, data }) => {
      if (event === 'item') told(id, parsed(data))
      else if (event === 'end') last = parsed(data)
      else if (event === 'problem') throw problemOf(parsed(data), status, place.where)
    })
    answer.setEncoding('utf8')
    for await (const text of answer as AsyncIterable<string>) read(text)
    return last
  })

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** The error of the server, in the words of this version. */
const problemOf = (answer: unknown, status: number, where: string): CordonError => {
  const { code, params } = Object(answer) as { readonly code?: unknown; readonly params?: unknown }
  if (typeof code !== 'string' || !Object.hasOwn(ALL_ERRORS, code) || typeof params !== 'object' || params === null)
    return unusable(where, `it answered ${String(status)}`)
  try {
    return fail(code as 'store-refused', params as { problem: string; fix: string })
  } catch {
    // Another version has other parameters.
    return unusable(where, `it answered ${String(status)}, ${code}`)
  }
}

const unusable = (where: string, problem: string, cause?: unknown): CordonError =>
  fail('server-unavailable', { where, problem }, cause)

/** A Cordon server sends no longer event. */
const MOST_LETTERS = 1_048_576

/** Reads server-sent events: takes the text in pieces, and calls `heard` with each complete event. */
export const readEvents = (
  heard: (event: Readonly<Record<'id' | 'event' | 'data', string>>) => void,
): ((text: string) => void) => {
  /** Pieces of the incomplete event. They may be many and small, so they are joined only at its end. */
  let pieces: string[] = []
  let length = 0
  return (text) => {
    if (text === '') return
    pieces.push(text)
    length += text.length
    const isLast = pieces.length > 1 && pieces.at(-2)?.endsWith('\n') === true && text.startsWith('\n')
    const events = isLast || text.includes('\n\n') ? pieces.join('').split('\n\n') : []
    if (events.length > 0) {
      pieces = [events.pop() ?? '']
      length = pieces[0]?.length ?? 0
    }
    for (const whole of events) {
      const lines = whole.split('\n')
      const of = (field: string): string =>
        lines
          .filter((line) => line.startsWith(`${field}: `))
          .map((line) => line.slice(field.length + 2))
          .join('\n')
      const event = of('event')
      if (event !== '') heard({ id: of('id'), event, data: of('data') })
    }
    if (length > MOST_LETTERS) throw new Error('an event of the server has no end')
  }
}
