// Requests and notifications that servers send. A server may ask its client only for what it was allowed, and can tell
// only of requests that it was sent itself.
import { fileURLToPath, pathToFileURL } from 'node:url'

import type { JsonValue } from 'cordon/gate'
import { isReadable, isWithinPath, parseAbsolutePath } from 'cordon/policy'
import type { AbsolutePath, Boundary } from 'cordon/policy'
import { monotonicMs } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import type { ClientUser } from './ask-client.js'
import { namesCordon, allTextsIn } from '../consent/index.js'
import { createExchange } from './exchange.js'
import type { SentRequest } from './exchange.js'
import type { ServerLink } from './server-link.js'
import { aboutOf, withAbout } from '../wire/about.js'
import {
  METHODS,
  TOLD_BY_SERVERS,
  errorAnswer,
  featureOf,
  progressTokenOf,
  signElicitation,
  withProgressToken,
} from '../wire/era-2025.js'
import type { ClientFeature } from '../wire/era-2025.js'
import { RPC_ERRORS, fieldsOf, notificationOf, paramsOf, requestOf, resultOf } from '../wire/messages.js'
import type { AnswerMessage, Fields, NotificationMessage, RequestMessage, SendToClient } from '../wire/messages.js'

export interface FromServers {
  readonly take: (link: ServerLink, message: RequestMessage | NotificationMessage) => void
  readonly answer: (answer: AnswerMessage) => void
  /** Progress of the client with a request of a server. */
  readonly progress: (message: NotificationMessage) => void
  /** Asks the client for Cordon itself. Undefined if it gives no result. */
  readonly askForCordon: ClientUser['ask']
  /** Takes back the questions of a server that has ended. */
  readonly withdraw: (link: ServerLink) => void
  /** Nobody answers any more. */
  readonly end: () => void
}

/** Questions of one server that a client has not answered yet. */
const MOST_QUESTIONS = 32

interface Question {
  readonly link: ServerLink
  /** As the server numbers it. */
  readonly request: RequestMessage
  readonly asked: SentRequest
}

/** Notifications that one server may send at once, and how many more each second. The rest is dropped. */
const MOST_AT_ONCE = 1_000
const MORE_PER_SECOND = 100

/** `onTrouble`: a server did what it must not do. */
export const createFromServers = (
  send: SendToClient,
  onTrouble: (link: ServerLink, problem: string) => void,
): FromServers => {
  const budgets = new WeakMap<ServerLink, { left: number; at: number }>()
  const isFlooding = (link: ServerLink): boolean => {
    const now = monotonicMs()
    const { left, at } = budgets.get(link) ?? { left: MOST_AT_ONCE, at: now }
    const allowed = Math.min(MOST_AT_ONCE, left + ((now - at) / 1_000) * MORE_PER_SECOND)
    budgets.set(link, { left: Math.max(0, allowed - 1), at: now })
    if (allowed < 1) onTrouble(link, `sends more than ${MOST_AT_ONCE} notifications at once; some are dropped`)
    return allowed < 1
  }
  const exchange = createExchange()
  const questions = new Map<number, Question>()

  const ask = async (link: ServerLink, request: RequestMessage, feature: ClientFeature): Promise<void> => {
    const { about, params } = aboutOf(paramsOf(request))
    const token = progressTokenOf(params)
    const asked = exchange.ask(token)
    const { id } = asked
    questions.set(id, { link, request, asked })
    const shown = feature === 'elicitation' ? signElicitation(params, link.name) : params
    const tracked = token === undefined ? shown : withProgressToken(shown, id)
    const subject = about === undefined ? undefined : link.run().waiting(about.request)?.token
    const related = about === undefined ? tracked : withAbout(tracked, { ...about, request: subject })
    link.run().hold(send({ ...request.fields, id, ...('params' in request.fields ? { params: related } : {}) }))
    const answer = await asked.answer
    questions.delete(id)
    // Who cancelled it waits for no answer.
    if (answer.kind === 'lost') return
    const fields = feature === 'roots' ? clipRoots(answer.fields, link.source.boundary) : answer.fields
    link.run().send({ ...fields, id: request.id })
  }
  const request = (link: ServerLink, message: RequestMessage): void => {
    const { id, method } = message
    if (method === METHODS.ping) {
      link.run().send(resultOf(id, {}))
      return
    }
    const refuse = (fix: string, rpc: number): void => {
      link.run().send(errorAnswer(id, fail('mcp-request-refused', { server: link.name, method, fix }), rpc))
    }
    const feature = featureOf(method)
    const fault = feature === 'elicitation' ? faultOfQuestion(message) : undefined
    if (fault !== undefined) {
      refuse(fault, RPC_ERRORS.refused)
      return
    }
    const isAllowed = feature !== undefined && link.source.allowed.has(feature)
    const open = [...questions.values()].filter((each) => each.link === link).length
    if (isAllowed && open < MOST_QUESTIONS) {
      void ask(link, message, feature)
      return
    }
    const fix = feature === undefined ? 'the gateway does not know this method' : fixOf(feature, isAllowed)
    refuse(fix, RPC_ERRORS.unknownMethod)
  }
  const cancel = (link: ServerLink, message: NotificationMessage): void => {
    const { requestId, ...params } = paramsOf(message)
    for (const [id, question] of questions) {
      if (question.link !== link || question.request.id !== requestId) continue
      exchange.cancel(id)
      void send({ ...message.fields, params: { ...params, requestId: id } })
    }
  }
  const progress = (link: ServerLink, message: NotificationMessage): void => {
    const params = paramsOf(message)
    const token = link.run().waiting(params['progressToken'])?.token
    if (token !== undefined) link.run().hold(send({ ...message.fields, params: { ...params, progressToken: token } }))
  }
  return {
    take: (link, message) => {
      if (message.kind === 'request') request(link, message)
      else if (message.method === METHODS.cancelled) cancel(link, message)
      else if (isFlooding(link)) return
      else if (message.method === METHODS.logMessage && !isOwnLogger(paramsOf(message)['logger']))
        onTrouble(link, 'sends log messages in the name of Cordon or under an overlong name, which are dropped')
      else if (message.method === METHODS.progress) progress(link, message)
      else if (TOLD_BY_SERVERS.has(message.method)) link.run().hold(send(message.fields))
    },
    answer: ({ id, fields }) => {
      exchange.settle(id, fields)
    },
    progress: (message) => {
      const params = paramsOf(message)
      const question = questions.get(Number(params['progressToken']))
      if (question?.asked.token === undefined) return
      question.link.run().send({ ...message.fields, params: { ...params, progressToken: question.asked.token } })
    },
    askForCordon: async (method, params, signal) => {
      const asked = exchange.ask(undefined)
      const { id } = asked
      const cancel = () => {
        if (exchange.cancel(id)) void send(notificationOf(METHODS.cancelled, { requestId: id }))
      }
      if (signal.aborted) cancel()
      else void send(requestOf(id, method, params))
      signal.addEventListener('abort', cancel, { once: true })
      const answer = await asked.answer
      signal.removeEventListener('abort', cancel)
      return answer.kind === 'answered' && 'result' in answer.fields ? fieldsOf(answer.fields['result']) : undefined
    },
    end: () => {
      exchange.end(fail('cancelled', {}))
    },
    withdraw: (link) => {
      for (const [id, question] of questions) {
        if (question.link !== link) continue
        exchange.cancel(id)
        void send(notificationOf(METHODS.cancelled, { requestId: id, reason: 'the server has ended' }))
      }
    },
  }
}

/** Long texts cost time to judge, and nobody reads them. */
const LONGEST_LOGGER = 256
const LONGEST_QUESTION = 65_536

const isOwnLogger = (logger: unknown): boolean =>
  typeof logger !== 'string' || (logger.length <= LONGEST_LOGGER && !namesCordon(logger))

const faultOfQuestion = (message: RequestMessage): string | undefined => {
  const texts = allTextsIn(aboutOf(paramsOf(message)).params as JsonValue)
  if (texts.reduce((sum, { length }) => sum + length, 0) > LONGEST_QUESTION)
    return `ask with at most ${LONGEST_QUESTION} letters`
  return texts.some(namesCordon) ? 'only Cordon asks in the name of Cordon' : undefined
}

const fixOf = (feature: ClientFeature, isAllowed: boolean): string =>
  isAllowed ? 'the client has to answer its earlier questions first' : `start the gateway with --allow ${feature}`

/** Only the parts of the client's roots that the cell of the server can read. */
const clipRoots = (answer: Fields, boundary: Boundary): Fields => {
  const result = fieldsOf(answer['result'])
  const roots = result['roots']
  if (!Array.isArray(roots)) return answer
  return { ...answer, result: { ...result, roots: roots.flatMap((root) => clipRoot(fieldsOf(root), boundary)) } }
}

const clipRoot = (root: Fields, boundary: Boundary): readonly Fields[] => {
  const path = pathOf(root['uri'])
  if (path === undefined) return []
  if (isReadable({ ...boundary, presetRead: [] }, path)) return [root]
  const inner = [...boundary.read, ...boundary.write]
    .filter(({ negated, base }) => !negated && isWithinPath(base, path))
    .map(({ base }) => base)
  return [...new Set(inner)].map((base) => ({ ...root, uri: pathToFileURL(base).href }))
}

const pathOf = (uri: unknown): AbsolutePath | undefined => {
  try {
    return typeof uri === 'string' ? parseAbsolutePath(fileURLToPath(uri), 'a root') : undefined
  } catch {
    return undefined
  }
}
