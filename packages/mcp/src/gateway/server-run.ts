// One run of a server: what is sent to it, what it answers, and how it ends.
import { CordonError, messageOf } from 'cordon/errors'
import type { Boundary } from 'cordon/policy'
import type { OpenProgram, SandboxProfile } from 'cordon/sandbox'

import { fail } from '../errors/errors.js'
import type { Consent } from '../consent/index.js'
import { failureIn } from '../bridge/http-failure.js'
import { createExchange } from './exchange.js'
import type { SentRequest } from './exchange.js'
import { createServerSpeech } from '../stateless/server-speech.js'
import { LISTS, METHODS, errorAnswer, progressTokenOf, withProgressToken } from '../wire/era-2025.js'
import type { ClientFeature } from '../wire/era-2025.js'
import { asksInResult } from '../wire/era-2026.js'
import { createLineReader } from '../wire/lines.js'
import { fieldsOf, notificationOf, readLine } from '../wire/messages.js'
import type { AnswerMessage, Fields, MessageId, NotificationMessage, RequestMessage } from '../wire/messages.js'

/** A server that can be started. */
export interface ServerSource {
  readonly name: string
  readonly cwd: string
  /** `http`: a bridge in its cell speaks for it. */
  readonly speaks: 'stdio' | 'http'
  /** The address of a remote server, as a word of a shell: the user can log in to it. */
  readonly url: string | undefined
  /** Of its cell. The roots of a client are clipped to it. */
  readonly boundary: Boundary
  /** What it may ask its client for. */
  readonly allowed: ReadonlySet<ClientFeature>
  /** Whether clients see this tool. */
  readonly isExposed: (tool: string) => boolean
  /** What was consented to of what it offers. */
  readonly consent: Consent
  /** Runs it in its cell. Rejects if it did not start. */
  readonly run: (streams: ServerStreams) => Promise<ServerEnd>
}

export interface ServerEnd {
  readonly how: string
  /** The end of what it wrote to stderr. */
  readonly lastWords: string
  /** The grants that it may have lacked. Empty if nothing is known. */
  readonly advice: () => string
}

export interface ServerStreams {
  readonly onStarted: (program: OpenProgram) => void
  readonly onStdout: (bytes: Uint8Array) => void
  /** It closed its output, so it answers nothing any more. */
  readonly onStdoutEnd: () => void
  /** Kills it. */
  readonly signal: AbortSignal
}

export interface ServerRun {
  readonly profile: () => SandboxProfile | undefined
  /** Sends a request with an id of ours. */
  readonly ask: (request: Fields) => SentRequest
  readonly cancel: (asked: SentRequest, params?: Fields) => void
  readonly waiting: (token: unknown) => SentRequest | undefined
  readonly send: (message: Fields) => void
  /** Reads no more from it until this settles. */
  readonly hold: (until: Promise<void> | undefined) => void
  readonly end: (error: CordonError) => void
  readonly isEnded: () => boolean
  /** Ends its input, and kills it if it does not end. */
  readonly close: () => Promise<void>
}

export interface RunListener {
  readonly onMessage: (message: RequestMessage | NotificationMessage) => void
  /** It did what it must not do. The gateway goes on. */
  readonly onTrouble: (error: CordonError) => void
  readonly onEnd: (error: CordonError) => void
}

/** Beyond this a server counts as one that does not read. */
const MOST_UNREAD = 64 * 1024 * 1024

/** A server chooses some of the words. */
const MOST_TROUBLES = 100

/** How long a server may take to end after its input, or its output, has ended. */
const LAST_MS = 2_000

/** How long a server may take to answer. A call of a tool has the time limit of its policy. */
const ANSWER_MS = { introduction: 50_000, list: 50_000, other: 10 * 60_000 }

export const startServer = (source: ServerSource, listener: RunListener): ServerRun => {
  const { name } = source
  const exchange = createExchange()
  const killing = new AbortController()
  const troubled = new Set<string>()
  let program: OpenProgram | undefined
  let early: Buffer[] = []
  let ended: CordonError | undefined
  let hasAnswered = false

  const end = (error: CordonError): void => {
    if (ended !== undefined) return
    ended = error
    program = undefined
    early = []
    exchange.end(error)
    killing.abort()
    listener.onEnd(error)
  }
  /** Reports each kind of trouble once, because a server can repeat it without end. */
  const report = (error: CordonError): void => {
    if (troubled.size >= MOST_TROUBLES || troubled.has(error.message)) return
    troubled.add(error.message)
    listener.onTrouble(error)
  }
  const trouble = (problem: string): void => {
    report(fail('mcp-server-garbled', { server: name, problem }))
  }
  const settle = ({ id, fields }: AnswerMessage): void => {
    hasAnswered = true
    const failure = source.speaks === 'http' ? failureOf(source, fields) : undefined
    if (failure !== undefined) report(failure)
    const answer = failure === undefined ? withoutQuestions(fields, name) : errorAnswer(0, failure)
    if (exchange.settle(id, answer) === 'unasked') trouble('answers what nobody asked, or answers twice')
  }
  /** Who waits for an answer must not wait for another one. */
  const refuseAnswer = (id: MessageId, problem: string): void => {
    const error = fail('mcp-server-garbled', { server: name, problem: `gave an unusable answer: ${problem}` })
    report(error)
    speech.take({ kind: 'answer', id, fields: errorAnswer(id, error) })
  }
  const read = createLineReader(
    (line) => {
      for (const message of readLine(line, 'server')) {
        if (message.kind !== 'garbage') speech.take(message)
        else if (message.id === undefined) trouble(`writes lines that are no messages: ${message.problem}`)
        else refuseAnswer(message.id, message.problem)
      }
    },
    () => {
      end(fail('mcp-server-garbled', { server: name, problem: 'wrote a message that is too long' }))
    },
  )
  const speech = createServerSpeech({
    server: name,
    speaks: source.speaks,
    allowed: source.allowed,
    toServer: (fields) => {
      write(fields)
    },
    toGateway: (message) => {
      if (message.kind === 'answer') settle(message)
      else listener.onMessage(message)
    },
  })
  const send = (message: Fields): void => {
    if (ended === undefined) speech.send(message)
  }
  const write = (message: Fields): void => {
    if (ended !== undefined) return
    const bytes = Buffer.from(`${JSON.stringify(message)}\n`)
    if (program === undefined) early.push(bytes)
    else program.write(bytes)
    const unread = program?.waiting() ?? 0
    if (unread > MOST_UNREAD) end(fail('mcp-server-stalled', { server: name, bytes: unread }))
  }

  const cancel = ({ id }: SentRequest, params: Fields = {}, error?: CordonError): void => {
    if (exchange.cancel(id, error)) send(notificationOf(METHODS.cancelled, { ...params, requestId: id }))
  }
  /** Gives up a request that is not answered in time. A server that is not even introduced is of no use. */
  const limit = (asked: SentRequest, method: unknown): void => {
    const ms = timeFor(method)
    if (ms === undefined) return
    const timer = setTimeout(() => {
      const error = fail('mcp-server-silent', { server: name, request: String(method), seconds: ms / 1_000 })
      if (method === METHODS.initialize) end(error)
      else cancel(asked, {}, error)
    }, ms)
    void asked.answer.then(() => {
      clearTimeout(timer)
    })
  }

  const run: ServerRun = {
    profile: () => program?.profile,
    ask: (request) => {
      const params = fieldsOf(request['params'])
      const token = progressTokenOf(params)
      const asked = exchange.ask(token)
      const { id } = asked
      limit(asked, request['method'])
      send({ ...request, id, ...(token === undefined ? {} : { params: withProgressToken(params, id) }) })
      return asked
    },
    cancel,
    isEnded: () => ended !== undefined,
    waiting: exchange.waiting,
    send,
    hold: (until) => {
      if (until !== undefined) program?.hold(until)
    },
    end,
    close: async () => {
      const timer = setTimeout(() => {
        killing.abort()
      }, LAST_MS)
      if (program === undefined) killing.abort()
      else program.endInput()
      await running
      clearTimeout(timer)
    },
  }
  const running = source
    .run({
      onStarted: (started) => {
        program = started
        for (const bytes of early) started.write(bytes)
        early = []
      },
      onStdout: read,
      onStdoutEnd: () => {
        // Most servers that close it are about to end, and how they end says more.
        setTimeout(end, LAST_MS, fail('mcp-server-ended', { server: name, how: 'it closed its output' })).unref()
      },
      signal: killing.signal,
    })
    .then(
      (ending) => {
        end(hasAnswered ? fail('mcp-server-ended', { server: name, how: ending.how }) : endedAtOnce(name, ending))
      },
      (error: unknown) => {
        end(
          program === undefined
            ? notStarted(name, error)
            : fail('mcp-server-ended', { server: name, how: String(error) }),
        )
      },
    )
  return run
}

const timeFor = (method: unknown): number | undefined => {
  if (method === METHODS.callTool) return undefined
  if (method === METHODS.initialize) return ANSWER_MS.introduction
  return typeof method === 'string' && Object.hasOwn(LISTS, method) ? ANSWER_MS.list : ANSWER_MS.other
}

const endedAtOnce = (server: string, { how, lastWords, advice }: ServerEnd): CordonError =>
  fail('mcp-server-not-started', {
    server,
    problem: `it ended before it answered (${how})${lastWords === '' ? '' : `; its last words: ${lastWords}`}`,
    fix: advice() || 'see what it wrote to stderr; nothing that it was refused is known (cordon why last)',
  })

const notStarted = (server: string, error: unknown): CordonError =>
  fail(
    'mcp-server-not-started',
    {
      server,
      problem: messageOf(error),
      fix: (error instanceof CordonError ? error.fix : undefined) ?? 'see: cordon log',
    },
    error,
  )

/** A result that asks the client for something is no result here. */
const withoutQuestions = (fields: Fields, server: string): Fields => {
  if (!asksInResult(fieldsOf(fields['result']))) return fields
  return errorAnswer(0, fail('mcp-request-refused', { server, method: 'input_required', fix: 'use an older client' }))
}

/** What the bridge in the cell of a server says instead of an answer. */
const failureOf = ({ name: server, url }: ServerSource, fields: Fields): CordonError | undefined => {
  const failure = failureIn(fields)
  if (failure === undefined) return undefined
  const { problem, isLoginWanted } = failure
  return isLoginWanted && url !== undefined
    ? fail('mcp-login-required', { server, problem, url })
    : fail('mcp-http-failed', { server, problem })
}
