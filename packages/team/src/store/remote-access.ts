// Access to a store through a Cordon server.
import { Agent, request as requestHttp } from 'node:http'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { Agent as TlsAgent, request as requestHttps } from 'node:https'

import { CordonError, messageOf } from 'cordon/errors'

import { ALL_ERRORS, fail } from '../errors/errors.js'
import type { StoreAccess } from './access.js'
import type { Following, Marked } from './open-registry.js'
import { jsonText } from './registry/statements.js'
import { operationOf } from './operations/index.js'
import type { AnyOperation } from './operations/index.js'
import { readFields } from './operations/field.js'
import { readEvents } from './server-events.js'

export interface ServerSettings {
  /** `https://host:port`, `http://127.0.0.1:port`, or `unix:/path/of/socket`. */
  readonly server: string
  readonly token?: string
  /** The member to act as. Only the owner of the store may set it, through the socket. */
  readonly actor?: string
  /** Send the token over plain HTTP, because something else encrypts the connection. */
  readonly allowPlainHttp?: boolean
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
  const exchange = (operation: AnyOperation, given: Readonly<Record<string, unknown>>, following?: Following) =>
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

const placeOf = ({ server, token, allowPlainHttp = false, authorities }: ServerSettings): Place => {
  if (server.startsWith('unix:')) {
    const socketPath = server.slice('unix:'.length)
    if (!socketPath.startsWith('/')) throw unusable(server, 'the path of a socket begins with /')
    return connectTo(server, requestHttp, new Agent({ keepAlive: true }), { socketPath, host: 'localhost' })
  }
  const url = URL.canParse(server) ? new URL(server) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw unusable(server, 'it is none of https://HOST:PORT, http://127.0.0.1:PORT, unix:PATH')
  if (url.username !== '' || url.password !== '' || url.pathname !== '/' || url.search !== '')
    throw unusable(url.origin, 'its address has more in it than host and port')
  if (url.protocol === 'http:' && token !== undefined && !LOOPBACK.test(url.hostname) && !allowPlainHttp)
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

interface Prepared {
  readonly options: Omit<RequestOptions, 'headers'> & { readonly headers: Readonly<Record<string, string>> }
  readonly body: Buffer | undefined
}

const prepare = (
  { token, actor }: ServerSettings,
  { method, path, fields }: AnyOperation,
  given: Readonly<Record<string, unknown>>,
): Prepared => {
  const inPath = new Set(Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name))
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given[name])))
  const rest = Object.keys(fields).filter((name) => !inPath.has(name) && given[name] !== undefined)
  const query =
    method === 'POST' ? '' : rest.map((name) => `${name}=${encodeURIComponent(String(given[name]))}`).join('&')
  const body =
    method === 'POST'
      ? Buffer.from(jsonText(Object.fromEntries(rest.map((name) => [name, given[name]])), 'the request'))
      : undefined
  return {
    body,
    options: {
      method,
      path: query === '' ? filled : `${filled}?${query}`,
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(actor === undefined ? {} : { 'cordon-actor': actor }),
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(body.byteLength) }),
      },
    },
  }
}

const send = async (
  place: Place,
  settings: ServerSettings,
  operation: AnyOperation,
  given: Readonly<Record<string, unknown>>,
  following?: Following,
): Promise<Marked<unknown> | undefined> => {
  const { options, body } = prepare(settings, operation, given)
  const { status, headers, text } = await exchangeOnce(
    place,
    {
      ...options,
      headers: {
        ...options.headers,
        ...(following?.known === undefined
          ? {}
          : {
              'if-none-match': `"${following.known}"`,
              'prefer': `wait=${String(Math.ceil(following.waitMs / 1000))}`,
            }),
      },
      ...(following?.signal === undefined ? {} : { signal: following.signal }),
      timeout: ANSWER_MS + (following?.waitMs ?? 0),
    },
    body,
  )
  if (status === NOT_MODIFIED) return undefined
  if (status === NO_CONTENT) return { answer: null, mark: '' }
  const answer = parsed(text)
  if (status === OK) {
    if (answer === undefined) throw unusable(place.where, 'its answer is not valid JSON')
    return { answer, mark: (headers.etag ?? '').replaceAll('"', '') }
  }
  throw problemOf(answer, status, place.where)
}

/** A live server sends something more often. */
const SILENT_MS = 45_000

/** Resolves with the last item, or undefined if the server ended earlier. Then go on after the last mark. */
const grow = (
  place: Place,
  settings: ServerSettings,
  operation: AnyOperation,
  given: Readonly<Record<string, unknown>>,
  told: (mark: string, item: unknown) => void,
  signal: AbortSignal,
): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const { options } = prepare(settings, operation, given)
    let last: unknown
    const refuse = (error: unknown): void => {
      const problem = error instanceof CordonError ? error : unusable(place.where, messageOf(error), error)
      reject(signal.aborted ? (signal.reason as Error) : problem)
    }
    const sent = place.start(
      { ...options, headers: { ...options.headers, accept: 'text/event-stream' }, signal, timeout: SILENT_MS },
      (answer) => {
        const status = answer.statusCode ?? 0
        const isStream = status === OK && answer.headers['content-type'] === 'text/event-stream'
        let refusal = ''
        const read = readEvents(({ id, event, data }) => {
          if (event === 'item') told(id, parsed(data))
          else if (event === 'end') last = parsed(data)
          else if (event === 'problem') sent.destroy(problemOf(parsed(data), status, place.where))
        })
        answer.setEncoding('utf8')
        answer.on('data', (text: string) => {
          if (isStream) read(text)
          else if (refusal.length < MOST_REFUSAL_LETTERS) refusal += text
        })
        answer.on('end', () => {
          if (isStream) resolve(last)
          else refuse(problemOf(parsed(refusal), status, place.where))
        })
        answer.on('error', refuse)
      },
    )
    sent.on('timeout', () => sent.destroy(new Error('it sends nothing any more')))
    sent.on('error', refuse)
    sent.end()
  })

const MOST_REFUSAL_LETTERS = 65_536
const OK = 200
const NO_CONTENT = 204
const NOT_MODIFIED = 304

interface Answered {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

const exchangeOnce = (place: Place, options: RequestOptions, body: Buffer | undefined): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const refuse = (error: Error): void => {
      const { signal } = options
      reject(signal?.aborted === true ? (signal.reason as Error) : unusable(place.where, error.message, error))
    }
    const sent = place.start(options, (answer) => {
      const chunks: Buffer[] = []
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.byteLength
        if (size > MOST_BYTES) sent.destroy(new Error('its answer is too large'))
        else chunks.push(chunk)
      })
      answer.on('end', () => {
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        })
      })
      answer.on('error', refuse)
    })
    sent.on('timeout', () => sent.destroy(new Error('it does not answer')))
    sent.on('error', refuse)
    sent.end(body)
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
