// A client of revision 2026-07-28, for a gateway that speaks the revisions before it. The gateway sees one client that
// introduces itself once. A question to this client becomes a result that asks, and the same request comes again with
// the answer: until then the call waits here.
import { randomUUID } from 'node:crypto'

import { isMapping } from 'cordon/shapes'

import { aboutOf } from '../wire/about.js'
import type { About } from '../wire/about.js'
import { METHODS, MULTI_ROUND, featureOf, progressTokenOf, withProgressToken } from '../wire/era-2025.js'
import {
  DISCOVER,
  LISTEN,
  STATELESS_REVISION,
  answersIn,
  clientOf,
  discoveryAnswer,
  inputRequired,
  withoutAnswers,
} from '../wire/era-2026.js'
import type { RequestClient } from '../wire/era-2026.js'
import {
  RPC_ERRORS,
  errorOf,
  fieldsOf,
  isId,
  notificationOf,
  paramsOf,
  requestOf,
  resultOf,
  textField,
} from '../wire/messages.js'
import type { AnswerMessage, Fields, Message, MessageId, RequestMessage, SendToClient } from '../wire/messages.js'
import { createListening } from './listening.js'
import { SPOKEN_REVISIONS, isSameRequest, refusalOf, statelessAnswer } from './stateless-answers.js'

export interface ClientSpeech {
  /** A message of the client. */
  readonly take: (message: Message) => void
  /** A message for the client. */
  readonly send: SendToClient
  readonly isStateless: () => boolean
}

/** How long a question waits for the request that answers it. */
const ANSWER_MS = 10 * 60_000

interface Waiting {
  readonly request: RequestMessage
  readonly client: RequestClient
  /** The id and the progress token that the client uses now. Undefined: it was answered with questions. */
  asker: { readonly id: MessageId; readonly token: unknown } | undefined
  /** Ids of questions, by the keys that the client gets. */
  readonly questions: Map<string, RequestMessage>
  /** Came while the client was asked. */
  answer: Fields | undefined
  timer: NodeJS.Timeout | undefined
}

interface Suspended {
  readonly id: MessageId
  readonly waiting: Waiting
  readonly shown: ReadonlyMap<string, RequestMessage>
}

/** `toGateway` takes what a client of an earlier revision would send, and answers through `send`. */
export const createClientSpeech = (toClient: SendToClient, toGateway: (message: Message) => void): ClientSpeech => {
  let era: 'unknown' | 'session' | 'stateless' = 'unknown'
  let introduced: Promise<Fields> | undefined
  let lastId = 0
  const waiting = new Map<MessageId, Waiting>()
  const suspended = new Map<string, Suspended>()
  /** Requests of the client that were not forwarded yet. */
  const beginning = new Set<MessageId>()
  /** Requests of this file itself. */
  const own = new Map<MessageId, (answer: Fields) => void>()

  const askGateway = (method: string, params: Fields): Promise<Fields> =>
    new Promise((resolve) => {
      lastId += 1
      own.set(lastId, resolve)
      const fields = requestOf(lastId, method, params)
      toGateway({ kind: 'request', id: lastId, method, fields })
    })
  const tellGateway = (method: string, params: Fields): void => {
    toGateway({ kind: 'notification', method, fields: notificationOf(method, params) })
  }
  const refuse = ({ id }: RequestMessage, problem: string): void => {
    toGateway({ kind: 'answer', id, fields: errorOf(id, RPC_ERRORS.unknownMethod, problem) })
  }
  const listening = createListening(toClient, askGateway)

  /** The gateway is introduced once, with what the first request says. */
  const introduce = ({ info, capabilities }: RequestClient): Promise<Fields> =>
    (introduced ??= (async () => {
      const answer = await askGateway(METHODS.initialize, {
        protocolVersion: STATELESS_REVISION,
        capabilities,
        clientInfo: info ?? { name: 'an MCP client', version: '' },
      })
      // A server that did not start can be asked again, and says so again.
      if (!('result' in answer)) introduced = undefined
      else tellGateway(METHODS.initialized, {})
      return answer
    })())

  const finish = (id: MessageId, entry: Waiting, answer: Fields): void => {
    waiting.delete(id)
    if (entry.asker !== undefined) void toClient(statelessAnswer(answer, entry.asker.id, entry.request.method))
  }
  /** Answers the client with all questions that it has not answered. */
  const suspend = (id: MessageId, entry: Waiting): void => {
    const { asker } = entry
    if (asker === undefined) return
    entry.asker = undefined
    const state = randomUUID()
    suspended.set(state, { id, waiting: entry, shown: new Map(entry.questions) })
    entry.timer = setTimeout(() => {
      suspended.delete(state)
      waiting.delete(id)
      for (const question of entry.questions.values()) refuse(question, 'nobody answered')
      tellGateway(METHODS.cancelled, { requestId: id, reason: 'nobody answered its question' })
    }, ANSWER_MS).unref()
    const requests = [...entry.questions].map(([key, { method, fields }]) => [
      key,
      { method, params: paramsOf({ fields }) },
    ])
    void toClient(resultOf(asker.id, inputRequired(Object.fromEntries(requests) as Fields, state)))
  }
  const goOn = (request: RequestMessage, state: string): void => {
    const found = suspended.get(state)
    const params = paramsOf(request)
    // A state counts once, and only for the request that it came with.
    if (found === undefined || !isSameRequest(found.waiting.request, request)) {
      void toClient(errorOf(request.id, RPC_ERRORS.invalidParams, 'this requestState is unknown, used or expired'))
      return
    }
    suspended.delete(state)
    const { id, waiting: entry, shown } = found
    clearTimeout(entry.timer)
    entry.asker = { id: request.id, token: progressTokenOf(params) }
    const { responses } = answersIn(params)
    for (const [key, question] of shown) {
      // A question that came later may have the key of one that was taken back.
      if (entry.questions.get(key) !== question || !Object.hasOwn(responses, key)) continue
      entry.questions.delete(key)
      const fields = resultOf(question.id, fieldsOf(responses[key]))
      toGateway({ kind: 'answer', id: question.id, fields })
    }
    if (entry.answer !== undefined) finish(id, entry, entry.answer)
    else if (entry.questions.size > 0) suspend(id, entry)
  }

  const forward = (request: RequestMessage, client: RequestClient, params: Fields): void => {
    lastId += 1
    const id = lastId
    const token = progressTokenOf(params)
    waiting.set(id, {
      request,
      client,
      questions: new Map<string, RequestMessage>(),
      answer: undefined,
      timer: undefined,
      asker: { id: request.id, token },
    })
    // By this token questions and progress find their request. Those of clients may be equal.
    toGateway({ ...request, id, fields: { ...request.fields, id, params: withProgressToken(params, id) } })
  }

  const answerTo = async (request: RequestMessage): Promise<void> => {
    const { id, method } = request
    const params = paramsOf(request)
    const client = clientOf(params)
    const refusal = refusalOf(id, method, client)
    if (refusal !== undefined) {
      void toClient(refusal)
      return
    }
    const { state } = answersIn(params)
    // A state that is not known here may be the ticket of a call that waits for an approval.
    const isTicket = state !== undefined && method === METHODS.callTool && !suspended.has(textField(state))
    if (state !== undefined && !isTicket) {
      goOn(request, textField(state))
      return
    }
    beginning.add(id)
    const introduction = await introduce(client)
    const result = fieldsOf(introduction['result'])
    if ('result' in introduction) await setLevel(client, fieldsOf(result['capabilities']))
    // Cancelled meanwhile.
    if (!beginning.delete(id)) return
    if (!('result' in introduction)) void toClient({ ...introduction, id })
    else if (method === DISCOVER) void toClient(resultOf(id, discoveryAnswer(result, SPOKEN_REVISIONS)))
    else if (method === LISTEN) await listening.open(id, params, fieldsOf(result['capabilities']))
    else forward(request, client, isTicket ? params : withoutAnswers(params))
  }
  let level: unknown
  const setLevel = async ({ logLevel }: RequestClient, capabilities: Fields): Promise<void> => {
    if (logLevel === undefined || logLevel === level || !('logging' in capabilities)) return
    level = logLevel
    await askGateway(METHODS.setLevel, { level })
  }

  /** The request that a question belongs to. If nobody says: the one that has waited longest. */
  const requestFor = (about: About | undefined, feature: string): readonly [MessageId, Waiting] | undefined => {
    const able = [...waiting].filter(
      ([id, { request, client }]) =>
        (about === undefined || about.request === id) &&
        MULTI_ROUND.has(request.method) &&
        feature in fieldsOf(client.capabilities),
    )
    return able.find(([, { asker }]) => asker !== undefined) ?? able[0]
  }
  const ask = (question: RequestMessage): void => {
    const { about, params } = aboutOf(paramsOf(question))
    const [id, entry] = requestFor(about, featureOf(question.method) ?? '') ?? []
    if (id === undefined || entry === undefined) {
      refuse(question, 'no request waits that this could be asked with')
      return
    }
    entry.questions.set(freeKey(entry.questions, about?.key ?? 'question'), {
      ...question,
      fields: { ...question.fields, params },
    })
    // Questions of one moment are asked together.
    setImmediate(() => {
      if (entry.questions.size > 0) suspend(id, entry)
    })
  }
  const withdraw = (requestId: unknown): void => {
    for (const { questions } of waiting.values())
      for (const [key, question] of questions) if (question.id === requestId) questions.delete(key)
  }
  const takeAnswer = ({ id, fields }: AnswerMessage): void => {
    const entry = waiting.get(id)
    if (entry === undefined) {
      own.get(id)?.(fields)
      own.delete(id)
    } else if (entry.asker === undefined) entry.answer = fields
    else finish(id, entry, fields)
  }
  const tell = (method: string, fields: Fields): Promise<void> | undefined => {
    const params = paramsOf({ fields })
    if (method === METHODS.cancelled) withdraw(params['requestId'])
    else if (method === METHODS.progress) {
      const token = waiting.get(params['progressToken'] as MessageId)?.asker?.token
      if (token !== undefined) return toClient({ ...fields, params: { ...params, progressToken: token } })
    } else if (method === METHODS.logMessage) {
      if ([...waiting.values()].some(({ client }) => client.logLevel !== undefined)) return toClient(fields)
    } else return listening.tell(method, params)
    return undefined
  }
  const cancel = (requestId: unknown): void => {
    if (beginning.delete(requestId as MessageId) || listening.close(requestId)) return
    for (const [id, { asker }] of waiting) {
      if (asker?.id !== requestId) continue
      waiting.delete(id)
      tellGateway(METHODS.cancelled, { requestId: id })
    }
  }

  return {
    take: (message) => {
      if (era === 'unknown' && message.kind === 'request')
        era = clientOf(paramsOf(message)).version === undefined ? 'session' : 'stateless'
      if (era !== 'stateless') toGateway(message)
      else if (message.kind === 'request') void answerTo(message)
      else if (message.kind === 'notification' && message.method === METHODS.cancelled)
        cancel(paramsOf(message)['requestId'])
    },
    isStateless: () => era === 'stateless',
    send: (fields) => {
      const { id, method } = fields
      if (era !== 'stateless') return toClient(isId(id) && isMapping(fields['params']) ? withoutAbout(fields) : fields)
      if (typeof method !== 'string') {
        if (isId(id)) takeAnswer({ kind: 'answer', id, fields })
      } else if (isId(id)) ask({ kind: 'request', id, method, fields })
      else return tell(method, fields)
      return undefined
    },
  }
}

/** A server must not be able to put its question in the place of another one. */
const freeKey = (questions: ReadonlyMap<string, unknown>, wanted: string): string => {
  let key = wanted
  for (let more = 2; questions.has(key); more += 1) key = `${wanted}-${more}`
  return key
}

const withoutAbout = (fields: Fields): Fields => ({ ...fields, params: aboutOf(paramsOf({ fields })).params })
