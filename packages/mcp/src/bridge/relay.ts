// Relays messages between the gateway and a server over streamable HTTP, of both eras. It judges nothing: the gateway
// does. A request that has no answer of the server is answered with an error.
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { messageOf } from 'cordon/errors'

import { createParamHeaders, headersOf } from '../http/mirrored-headers.js'
import { METHODS } from '../wire/era-2025.js'
import { LISTEN, clientOf } from '../wire/era-2026.js'
import { LONGEST_LINE } from '../wire/lines.js'
import { fieldsOf, paramsOf, readLine, textField } from '../wire/messages.js'
import type { Fields, Message, RequestMessage } from '../wire/messages.js'
import { createEventReader } from './event-reader.js'
import { bodyOf, failureOf } from './http-exchange.js'
import type { HttpServer } from './http-exchange.js'
import { HttpFailure, failureAnswer } from './http-failure.js'
import { createHttpSession } from './http-session.js'

export interface RelayParts {
  readonly server: HttpServer
  /** Gives a promise if the gateway is slow. */
  readonly toGateway: (line: string) => Promise<void> | undefined
  /** Says something on stderr. */
  readonly complain: (problem: string) => void
  /** Nothing more can come from this server. */
  readonly giveUp: () => void
}

export interface Relay {
  /** Takes one line of the gateway. */
  readonly take: (line: string) => void
  /** Ends the session of the server. */
  readonly close: () => Promise<void>
}

/** How a stream of events ended. */
interface ReadStream {
  readonly isDone: boolean
  /** The id of the last event, if the stream can go on after it. */
  readonly lastId: string | undefined
  /** Whether it brought nothing, and ended soon. */
  readonly isFailure: boolean
  /** What the server asks for before the stream is opened again. */
  readonly pauseMs: number
}

const ACCEPT = 'application/json, text/event-stream'

/** How long the messages after a notification wait until the server has taken it. */
const TAKEN_MS = 10_000
/** How often a lost stream is opened again without getting anything new. */
const MOST_RESUMED = 5
/** A stream that lasted longer was no failure: proxies end streams on which nothing happens. */
const LONG_LIVED_MS = 10_000
/** How long a stream may stay open after its answer. */
const LINGER_MS = 1_000
const USUAL_PAUSE = 1_000

export const createRelay = ({ server, toGateway, complain, giveUp }: RelayParts): Relay => {
  const session = createHttpSession()
  const paramHeaders = createParamHeaders()
  /** Requests of the gateway that are not answered yet. */
  const running = new Map<unknown, { readonly cancelling: AbortController; readonly isStateless: boolean }>()
  const closing = new AbortController()
  const isClosing = (): boolean => closing.signal.aborted
  let last: Promise<void> = Promise.resolve()

  /** Passes on what the server sent at once. Gives whether the answer to `request` is in it. */
  const deliver = async (text: string, request: RequestMessage | undefined): Promise<boolean> => {
    const messages = readLine(text, 'server')
    if (messages.some(({ kind }) => kind === 'garbage')) throw new HttpFailure('the server sent what is not a message')
    const answer = messages.find((message) => message.kind === 'answer' && message.id === request?.id)
    if (request !== undefined && answer?.kind === 'answer') learn(request, fieldsOf(answer.fields['result']))
    // Line ends of JSON are blanks.
    await toGateway(text.replaceAll(/[\r\n]+/g, ' '))
    return answer !== undefined
  }
  const learn = ({ method }: RequestMessage, result: Fields): void => {
    if (method === METHODS.initialize) session.begin(result)
    if (method === METHODS.listTools) paramHeaders.learn(result)
  }
  const readEvents = async (
    response: IncomingMessage,
    signal: AbortSignal,
    onData: (data: string) => Promise<'done' | 'more'>,
  ): Promise<ReadStream> => {
    const reader = createEventReader(LONGEST_LINE)
    const begun = Date.now()
    let lastId: string | undefined
    let lingering: NodeJS.Timeout | undefined
    try {
      for await (const bytes of response as AsyncIterable<Uint8Array>)
        for (const { data, id } of reader.take(bytes)) {
          lastId = id ?? lastId
          // A stream that ends by itself leaves a connection that can be used again.
          if (data !== '' && (await onData(data)) === 'done') lingering ??= setTimeout(cutOff, LINGER_MS, response)
        }
    } catch (error) {
      if (lingering === undefined && (error instanceof HttpFailure || signal.aborted)) throw error
      if (lingering === undefined) complain(`a stream of the server broke: ${messageOf(error)}`)
    } finally {
      clearTimeout(lingering)
      response.destroy()
    }
    return {
      isDone: lingering !== undefined,
      lastId,
      isFailure: lastId === undefined && Date.now() - begun <= LONG_LIVED_MS,
      pauseMs: reader.retry() ?? USUAL_PAUSE,
    }
  }
  const streamOf = async (lastId: string | undefined, signal: AbortSignal): Promise<IncomingMessage> =>
    server.send({
      method: 'GET',
      headers: {
        ...session.headers(),
        accept: 'text/event-stream',
        ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
      },
      signal,
      lane: 'others',
    })

  const post = (request: RequestMessage, body: string, signal: AbortSignal): Promise<IncomingMessage> => {
    const own = isStateless(request) ? headersOf(request, paramHeaders) : session.headers()
    return server.send({ method: 'POST', headers: { ...own, accept: ACCEPT }, body, signal, lane: 'requests' })
  }
  /**
   * A stream that ends before the answer goes on from its last event, if events have ids. A subscription without a
   * session begins anew.
   */
  const readAnswer = async (
    request: RequestMessage,
    body: string,
    first: IncomingMessage,
    signal: AbortSignal,
  ): Promise<void> => {
    let response = first
    let resumeAt: string | undefined
    for (let resumed = 0; resumed <= MOST_RESUMED; resumed += 1) {
      const { isDone, lastId, isFailure, pauseMs } = await readEvents(response, signal, async (data) =>
        (await deliver(data, request)) ? 'done' : 'more',
      )
      if (isDone) return
      if (!isFailure) resumed = 0
      resumeAt = lastId ?? resumeAt
      if (isStateless(request) ? request.method !== LISTEN : resumeAt === undefined) break
      await pause(pauseMs, signal)
      response = await (isStateless(request) ? post(request, body, signal) : streamOf(resumeAt, signal))
      if (!isEventStream(response)) {
        response.destroy()
        break
      }
    }
    throw new HttpFailure('the server ended its stream before it answered')
  }
  const receive = async (
    request: RequestMessage,
    body: string,
    response: IncomingMessage,
    signal: AbortSignal,
  ): Promise<void> => {
    if (request.method === METHODS.initialize) session.learnId(response)
    if (response.statusCode === 200 && isEventStream(response)) {
      await readAnswer(request, body, response, signal)
      return
    }
    const isRefused = response.statusCode === 401 || response.statusCode === 403
    const isJson = !isRefused && /^application\/json\s*(?:;|$)/i.test(response.headers['content-type'] ?? '')
    const text = isJson ? await bodyOf(response, LONGEST_LINE) : ''
    if (isJson && response.statusCode === 200) {
      if (await deliver(text, request)) return
      throw new HttpFailure('the server answered, but not this request')
    }
    // Some errors of the protocol have a status of their own.
    if (isJson && isErrorFor(request, text)) {
      await deliver(text, request)
      return
    }
    const failure = await failureOf(response)
    if (session.isGone(response)) {
      complain('the server has ended the session')
      giveUp()
    }
    throw failure
  }

  const ask = async (request: RequestMessage, body: string): Promise<void> => {
    const cancelling = new AbortController()
    const { signal } = cancelling
    running.set(request.id, { cancelling, isStateless: isStateless(request) })
    try {
      await receive(request, body, await post(request, body, signal), signal)
    } catch (error) {
      if (!signal.aborted) await toGateway(JSON.stringify(failureAnswer(request.id, asFailure(error))))
    } finally {
      running.delete(request.id)
    }
  }
  const tell = async (message: Message, body: string): Promise<void> => {
    const headers = { ...session.headers(), accept: ACCEPT }
    const response = await server.send({ method: 'POST', headers, body, signal: closing.signal, lane: 'others' })
    if ((response.statusCode ?? 0) >= 300) throw await failureOf(response)
    response.destroy()
    if (message.kind === 'notification' && message.method === METHODS.initialized) void listen()
  }
  /** What belongs to no request of the gateway. A server does not have to have such a stream. */
  const listen = async (): Promise<void> => {
    let resumeAt: string | undefined
    for (let failed = 0; failed <= MOST_RESUMED && !isClosing(); failed += 1) {
      let pauseMs = USUAL_PAUSE
      try {
        const response = await streamOf(resumeAt, closing.signal)
        if (!isEventStream(response)) {
          const { message } = await failureOf(response)
          if (response.statusCode !== 405) complain(`the server opens no stream of messages: ${message}`)
          return
        }
        const read = await readEvents(response, closing.signal, async (data) => {
          await deliver(data, undefined)
          return 'more'
        })
        resumeAt = read.lastId ?? resumeAt
        pauseMs = read.pauseMs
        if (!read.isFailure) failed = 0
      } catch (error) {
        if (isClosing()) return
        complain(asFailure(error).message)
      }
      await pause(pauseMs * 2 ** failed, closing.signal)
    }
  }
  /** Messages go out at once, each by itself. Only the end of the introduction comes before all that follow it. */
  const pass = async (message: Message, body: string): Promise<void> => {
    if (message.kind === 'request') {
      void ask(message, body)
      return
    }
    const cancelled = message.kind === 'notification' && message.method === METHODS.cancelled
    const found = cancelled ? running.get(paramsOf(message)['requestId']) : undefined
    const told =
      found?.isStateless === true
        ? Promise.resolve()
        : tell(message, body).catch((error: unknown) => {
            if (!isClosing()) complain(asFailure(error).message)
          })
    const isIntroduction = message.kind === 'notification' && message.method === METHODS.initialized
    if (isIntroduction) await Promise.race([told, pause(TAKEN_MS, closing.signal)])
    // Without a session this is how a request is cancelled. With one it only frees the connection.
    else void told.then(() => found?.cancelling.abort())
  }
  return {
    take: (line) => {
      const messages = readLine(line, 'client')
      for (const message of messages)
        if (message.kind !== 'garbage')
          last = last.then(() => pass(message, messages.length === 1 ? line : JSON.stringify(message.fields)))
    },
    close: async () => {
      closing.abort()
      for (const { cancelling } of running.values()) cancelling.abort()
      if (!session.isOpen()) return
      const signal = AbortSignal.timeout(USUAL_PAUSE)
      await server.send({ method: 'DELETE', headers: session.headers(), signal, lane: 'others' }).catch(() => undefined)
    },
  }
}

const isStateless = (request: RequestMessage): boolean => textField(clientOf(paramsOf(request)).version) !== ''

const isErrorFor = ({ id }: RequestMessage, text: string): boolean => {
  const [message] = readLine(text, 'server')
  return message?.kind === 'answer' && message.id === id && 'error' in message.fields
}

const isEventStream = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 200 && /^text\/event-stream\s*(?:;|$)/i.test(headers['content-type'] ?? '')

const asFailure = (error: unknown): HttpFailure =>
  error instanceof HttpFailure ? error : new HttpFailure(`the connection broke: ${messageOf(error)}`)

const cutOff = (response: IncomingMessage): void => {
  response.destroy()
}

/** Servers choose how long the bridge waits, so there are bounds. */
const SHORTEST_PAUSE = 100
const LONGEST_PAUSE = 30_000

/** Settles early if the signal says so. */
const pause = (wanted: number, signal: AbortSignal): Promise<void> =>
  sleep(Math.min(Math.max(wanted, SHORTEST_PAUSE), LONGEST_PAUSE), undefined, { signal }).catch(() => undefined)
