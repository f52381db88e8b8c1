// A server of revision 2026-07-28, for a gateway that speaks the revisions before it. The gateway sees a server that is
// introduced once. A result that asks for something becomes requests to the client, and the same request goes to the
// server again with the answers. Which revision a server speaks shows when it is introduced.
import { isMapping } from 'cordon/shapes'

import { withAbout } from '../wire/about.js'
import { LATEST_REVISION, METHODS, allowedOf } from '../wire/era-2025.js'
import type { ClientFeature } from '../wire/era-2025.js'
import {
  ACKNOWLEDGED,
  DISCOVER,
  STATELESS_REVISION,
  asksInResult,
  clientOf,
  grantable,
  introductionFrom,
  listenTo,
  questionsIn,
  wishFields,
  wishesFor,
  withAnswers,
  withClient,
  withoutClient,
  withoutSubscription,
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
import type { AnswerMessage, Fields, Message, MessageId, RequestMessage } from '../wire/messages.js'

export interface ServerSpeech {
  /** A message for the server. */
  readonly send: (fields: Fields) => void
  /** A message of the server. */
  readonly take: (message: Message) => void
}

export interface SpeechParts {
  readonly server: string
  /** A bridge answers for a server over HTTP, also while the server starts. */
  readonly speaks: 'stdio' | 'http'
  /** What the server may ask its client for. */
  readonly allowed: ReadonlySet<ClientFeature>
  readonly toServer: (fields: Fields) => void
  readonly toGateway: (message: Message) => void
}

/** How long a server may take to say that it does not know `server/discover`. */
const DISCOVERY_MS = { stdio: 5_000, http: 45_000 }

/** A server that asks more often than this asks for ever. */
const MOST_ROUNDS = 20

interface Round {
  /** As the gateway numbers it. */
  readonly id: MessageId
  readonly request: Fields
  readonly count: number
}

/** The questions of one result, which are asked again when all are answered. */
interface Questions {
  readonly round: Round
  readonly state: unknown
  readonly answers: Record<string, unknown>
}

export const createServerSpeech = (parts: SpeechParts): ServerSpeech => {
  const { server, speaks, allowed, toServer, toGateway } = parts
  let isStateless = false
  let client: Omit<RequestClient, 'version'> = { info: undefined, capabilities: {}, logLevel: undefined }
  let capabilities: Fields = {}
  const subscribed = new Set<string>()
  let lastId = 0
  let listener: string | undefined
  /** Requests that the server has to answer, by the ids that it sees. */
  const rounds = new Map<MessageId, Round>()
  const questions = new Map<MessageId, { readonly asked: Questions; readonly key: string }>()
  /** Requests of this file itself. */
  const own = new Map<MessageId, (answer: Fields) => void>()

  const newId = (): string => {
    lastId += 1
    return `cordon-${lastId}`
  }
  const askServer = (method: string, params: Fields): Promise<Fields> =>
    new Promise((resolve) => {
      const id = newId()
      own.set(id, resolve)
      toServer(requestOf(id, method, params))
    })
  const answerGateway = (id: MessageId, fields: Fields): void => {
    toGateway({ kind: 'answer', id, fields: { ...fields, id } })
  }

  const discover = async (): Promise<Fields | undefined> => {
    let timer: NodeJS.Timeout | undefined
    const silent = new Promise<Fields>((resolve) => {
      timer = setTimeout(resolve, DISCOVERY_MS[speaks], {}).unref()
    })
    const answer = await Promise.race([askServer(DISCOVER, withClient({}, client)), silent])
    clearTimeout(timer)
    return 'result' in answer ? fieldsOf(answer['result']) : undefined
  }
  /** A client of the stateless revision prefers it for its servers too. */
  const introduce = async (id: MessageId, request: Fields): Promise<void> => {
    const params = fieldsOf(request['params'])
    client = { info: params['clientInfo'], capabilities: params['capabilities'] ?? {}, logLevel: undefined }
    const prefersStateless = params['protocolVersion'] === STATELESS_REVISION
    const first = prefersStateless ? await discover() : undefined
    const begun = first === undefined ? await begin(params, prefersStateless) : {}
    const discovery = first ?? ('error' in begun ? await discover() : undefined)
    if (discovery === undefined) {
      answerGateway(id, begun)
      return
    }
    isStateless = true
    capabilities = fieldsOf(discovery['capabilities'])
    answerGateway(id, resultOf(id, introductionFrom(discovery, LATEST_REVISION, server)))
    listen()
  }
  const begin = (params: Fields, prefersStateless: boolean): Promise<Fields> =>
    askServer(METHODS.initialize, prefersStateless ? { ...params, protocolVersion: LATEST_REVISION } : params)

  /** One subscription for everything. A change of it is a new one. */
  const listen = (): void => {
    const wishes = grantable(wishesFor(subscribed), capabilities)
    if (listener !== undefined) toServer(notificationOf(METHODS.cancelled, { requestId: listener }))
    listener = undefined
    if (Object.keys(wishFields(wishes)).length === 0) return
    listener = newId()
    const request = listenTo(listener, wishes)
    toServer({ ...request, params: withClient(fieldsOf(request['params']), client) })
  }
  const subscribe = (id: MessageId, params: Fields, isWanted: boolean): void => {
    const uri = textField(params['uri'])
    if (isWanted) subscribed.add(uri)
    else subscribed.delete(uri)
    listen()
    answerGateway(id, resultOf(id, {}))
  }

  /** A client of the stateless revision says anew with each request what it can. */
  const clientFor = (params: Fields): Omit<RequestClient, 'version'> => {
    const { info, capabilities: given, logLevel } = clientOf(params)
    if (!isMapping(given)) return client
    return { info: info ?? client.info, capabilities: allowedOf(given, allowed), logLevel }
  }
  const ask = (round: Round): void => {
    const id = round.count === 0 ? round.id : newId()
    rounds.set(id, round)
    toServer({ ...round.request, id })
  }
  const request = (id: MessageId, method: string, fields: Fields): void => {
    const params = fieldsOf(fields['params'])
    if (method === METHODS.ping) answerGateway(id, resultOf(id, {}))
    else if (method === METHODS.setLevel) {
      client = { ...client, logLevel: params['level'] }
      answerGateway(id, resultOf(id, {}))
    } else if (method === METHODS.subscribe || method === METHODS.unsubscribe)
      subscribe(id, params, method === METHODS.subscribe)
    else ask({ id, request: { ...fields, params: withClient(params, clientFor(params)) }, count: 0 })
  }
  const cancel = (fields: Fields): void => {
    const params = fieldsOf(fields['params'])
    for (const [id, round] of rounds) {
      if (round.id !== params['requestId']) continue
      rounds.delete(id)
      toServer({ ...fields, params: { ...params, requestId: id } })
    }
    for (const [id, { asked }] of questions) {
      if (asked.round.id !== params['requestId']) continue
      takeBack(id)
    }
  }
  const takeBack = (id: MessageId): void => {
    questions.delete(id)
    const withdrawn = notificationOf(METHODS.cancelled, { requestId: id })
    toGateway({ kind: 'notification', method: METHODS.cancelled, fields: withdrawn })
  }

  /** The gateway judges each question, as one of a server that asks by itself. */
  const askBack = (round: Round, result: Fields): void => {
    const { requests, state } = questionsIn(result)
    const keys = Object.keys(requests)
    if (round.count >= MOST_ROUNDS) {
      answerGateway(round.id, errorOf(round.id, RPC_ERRORS.refused, 'the server asks again and again'))
      return
    }
    const asked: Questions = { round, state, answers: {} }
    if (keys.length === 0) again(asked)
    for (const key of keys) {
      const id = newId()
      questions.set(id, { asked, key })
      const { method, params } = fieldsOf(requests[key])
      const fields = requestOf(id, textField(method), withAbout(fieldsOf(params), { request: round.id, key }))
      toGateway({ kind: 'request', id, method: textField(method), fields })
    }
  }
  const again = ({ round, answers, state }: Questions): void => {
    const params = withAnswers(fieldsOf(round.request['params']), answers, state)
    ask({ ...round, request: { ...round.request, params }, count: round.count + 1 })
  }
  const takeReply = (id: MessageId, fields: Fields): void => {
    const found = questions.get(id)
    if (found === undefined) return
    questions.delete(id)
    const { asked, key } = found
    if ('error' in fields) {
      // Its other questions need no answer any more.
      for (const [other, { asked: others }] of questions) if (others === asked) takeBack(other)
      answerGateway(asked.round.id, fields)
      return
    }
    asked.answers[key] = fields['result']
    if (![...questions.values()].some((other) => other.asked === asked)) again(asked)
  }
  const takeAnswer = (message: AnswerMessage): void => {
    const { id, fields } = message
    const waiting = own.get(id)
    own.delete(id)
    if (waiting !== undefined) waiting(fields)
    else if (!isStateless) toGateway(message)
    else if (id !== listener) {
      const round = rounds.get(id)
      rounds.delete(id)
      if (round === undefined) toGateway(message)
      else if (asksInResult(fieldsOf(fields['result']))) askBack(round, fieldsOf(fields['result']))
      else answerGateway(round.id, fields)
    }
  }
  /** Servers of this revision send no requests. */
  const takeRequest = (message: RequestMessage): void => {
    if (isStateless) toServer(errorOf(message.id, RPC_ERRORS.unknownMethod, 'a server sends no requests'))
    else toGateway(message)
  }
  return {
    send: (fields) => {
      const { id, method } = fields
      if (isId(id) && method === METHODS.initialize) void introduce(id, fields)
      else if (!isStateless) toServer(plain(fields))
      else if (isId(id) && typeof method === 'string') request(id, method, fields)
      else if (isId(id)) takeReply(id, fields)
      else if (method === METHODS.cancelled) cancel(fields)
    },
    take: (message) => {
      if (message.kind === 'answer') takeAnswer(message)
      else if (message.kind === 'request') takeRequest(message)
      else if (!isStateless || message.method !== ACKNOWLEDGED)
        // No server may address a subscription of a client.
        toGateway({ ...message, fields: { ...message.fields, params: withoutSubscription(paramsOf(message)) } })
    },
  }
}

/** A message for a server of an earlier revision. */
const plain = (fields: Fields): Fields =>
  isMapping(fields['params']) ? { ...fields, params: withoutClient(fields['params']) } : fields
