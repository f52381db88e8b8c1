// The gateway between one client and its servers. It relays what it does not have to decide, and sends every call of a
// tool through the gate.
import { CordonError, messageOf } from 'cordon/errors'
import type { Approve, Cordon } from 'cordon'

import { fail } from '../errors/errors.js'
import { approveByClient } from './ask-client.js'
import { callTool, serverOfTool } from './call-tool.js'
import type { OnRefused } from './call-tool.js'
import type { OfferKind } from '../consent/index.js'
import { createFromServers } from './from-server.js'
import { createInstances } from './instances.js'
import { MOST_ENTRIES, listAll, unusableList } from './list-all.js'
import { createOffered } from './offered.js'
import { createServedTools } from './served-tools.js'
import type { ToolNaming, ToolRegister } from './served-tools.js'
import { openServerLink } from './server-link.js'
import type { ServerLink } from './server-link.js'
import type { ServerSource } from './server-run.js'
import { createRouter, sharedName } from './several-servers.js'
import { createClientSpeech } from '../stateless/client-speech.js'
import {
  LISTS,
  METHODS,
  errorAnswer,
  introduce,
  introduceTogether,
  isNotification,
  refusedResult,
} from '../wire/era-2025.js'
import { clientOf } from '../wire/era-2026.js'
import { RPC_ERRORS, fieldsOf, paramsOf, readLine, resultOf, textField } from '../wire/messages.js'
import type { Fields, Message, MessageId, NotificationMessage, RequestMessage, SendToClient } from '../wire/messages.js'

export interface GatewayParts {
  readonly servers: readonly ServerSource[]
  readonly cordon: ToolRegister & Pick<Cordon, 'call' | 'resume'>
  /** The user of the client may approve calls. */
  readonly isClientAsked: boolean
  readonly policyOf: ToolNaming['policyOf']
  readonly send: SendToClient
  /** For the operator: a server failed, or misbehaves. */
  readonly onTrouble: (error: CordonError) => void
  readonly onRefused: OnRefused
  readonly version: string
}

export interface Gateway {
  /** Takes one line of the client. */
  readonly take: (line: string) => void
  /** Asks the user of the client. */
  readonly approve: Approve
  /** Ends all servers. */
  readonly close: () => Promise<void>
}

export const openGateway = (parts: GatewayParts): Gateway => {
  const { servers, cordon, isClientAsked, policyOf, send: toClient, onTrouble, onRefused, version } = parts
  const speech = createClientSpeech(toClient, (message) => {
    takeMessage(message)
  })
  const { send } = speech
  /** What a server sends unasked is dropped if the client could not take it. */
  const sendUnlessTooLong: SendToClient = (message) => {
    try {
      return send(message)
    } catch (error) {
      tellTrouble(error)
      return undefined
    }
  }
  const fromServers = createFromServers(sendUnlessTooLong, (link, problem) => {
    troubled(link, problem)
  })
  const isShared = servers.length > 1
  let isClosing = false
  const capabilities = new Map<ServerLink, Fields>()
  /** Requests of the client that are not answered yet, and how to cancel each. */
  const running = new Map<MessageId, (params: Fields) => void>()

  const links = servers.map((source) =>
    openServerLink(source, {
      onMessage: fromServers.take,
      onTrouble,
      onEnd: (link, error) => {
        fromServers.withdraw(link)
        if (!isClosing) onTrouble(error)
      },
    }),
  )
  const processes = (): readonly ServerLink[] => [...links, ...instances.running()]
  const nameOf: ToolNaming['nameOf'] = (link, own) => (isShared ? sharedName(link.name, own) : own)
  const router = createRouter(links)
  const offered = createOffered(onTrouble)
  const instances = createInstances({
    onMessage: fromServers.take,
    onTrouble,
    onEnd: (link) => {
      fromServers.withdraw(link)
    },
    compare: async (link, entries) => {
      await offered.admitted(link, METHODS.listTools, entries, undefined)
      return new Set(entries.map((entry) => textField(fieldsOf(entry)['name'])))
    },
  })
  const tools = createServedTools(cordon, {
    nameOf,
    policyOf,
    serverOf: (base, ownName, cell) => {
      instances.prepare(base, cell)
      return serverOfTool({ base, cell, ownName }, instances, () => offered.refusal(base, 'tool', ownName))
    },
  })
  let introduction: Fields = {}
  const user = (info = introduction['clientInfo']): string =>
    `the user of ${textField(fieldsOf(info)['name'], 'an MCP client').slice(0, 100)}`
  const approve = approveByClient({
    by: () => user(),
    // A client without a session is asked by the result of its own call.
    canBeAsked: () => !speech.isStateless() && 'elicitation' in fieldsOf(introduction['capabilities']),
    ask: fromServers.askForCordon,
  })

  /** Each kind once, because a server can repeat it without end. */
  const troubles = new Set<string>()
  const troubled = (link: ServerLink, problem: string): void => {
    const error = fail('mcp-server-garbled', { server: link.name, problem })
    if (!troubles.has(error.message)) onTrouble(error)
    troubles.add(error.message)
  }
  const asCordonError = (error: unknown): CordonError =>
    error instanceof CordonError ? error : fail('mcp-relay-failed', { problem: messageOf(error) }, error)
  const tellTrouble = (error: unknown): void => {
    onTrouble(asCordonError(error))
  }
  /** Sends a request on, and gives its answer with the id of the client. */
  const relay = async (link: ServerLink, request: RequestMessage, params?: Fields): Promise<Fields> => {
    if (request.method !== METHODS.initialize) await link.awaken()
    const asked = link.ask(params === undefined ? request.fields : { ...request.fields, params })
    running.set(request.id, (given) => {
      link.run().cancel(asked, given)
    })
    const answer = await asked.answer
    return answer.kind === 'lost' ? errorAnswer(request.id, answer.error) : { ...answer.fields, id: request.id }
  }
  /** The whole list of a server, as clients may read it. */
  const listAdmitted = async (link: ServerLink, method: string): Promise<readonly Fields[]> => {
    const admitted = await offered.admitted(link, method, await listAll(link, method), undefined)
    const entries = exposedOf(link, method, admitted)
    if (method === METHODS.listTools) await tools.learn(link, entries, true)
    return entries
  }
  const learnAll = async (link: ServerLink): Promise<void> => {
    if ('tools' in (capabilities.get(link) ?? { tools: {} })) await listAdmitted(link, METHODS.listTools)
  }

  /** The lists of all servers as one. A server that fails is left out. */
  const listTogether = async ({ id, method }: RequestMessage): Promise<Fields> => {
    const { field = '', capability = '' } = LISTS[method] ?? {}
    const having = links.filter((link) => capability in (capabilities.get(link) ?? {}))
    const lists = await Promise.all(
      having.map(async (link) => {
        try {
          return { link, entries: await listAdmitted(link, method) }
        } catch (error) {
          if (!(error instanceof CordonError)) throw error
          onTrouble(error)
          return { link, entries: [] }
        }
      }),
    )
    // In the order of the servers: the first one that lists a resource has it, and not the fastest one.
    const shared = lists.flatMap(({ link, entries }) => router.share(link, method, entries))
    return resultOf(id, { [field]: shared })
  }
  const listOf = async (link: ServerLink, request: RequestMessage): Promise<Fields> => {
    const { method } = request
    const { field = '' } = LISTS[method] ?? {}
    const answer = await relay(link, request)
    const result = fieldsOf(answer['result'])
    const listed = result[field]
    if (!('result' in answer)) return answer
    if (!Array.isArray(listed) || listed.length > MOST_ENTRIES) throw unusableList(link, method)
    const isWhole = result['nextCursor'] === undefined && !('cursor' in paramsOf(request))
    const others = isWhole ? undefined : () => listAll(link, method)
    const entries = exposedOf(link, method, await offered.admitted(link, method, listed, others))
    if (method === METHODS.listTools) void tools.learn(link, entries, isWhole).catch(tellTrouble)
    return { ...answer, result: { ...result, [field]: entries } }
  }
  /** Why nobody may use a tool or prompt of this name, which clients use. */
  const refusalOf = (kind: OfferKind, name: string): CordonError | undefined =>
    links
      .filter((link) => name.startsWith(nameOf(link, '')))
      .map((link) => offered.refusal(link, kind, name.slice(nameOf(link, '').length)))
      .find((refusal) => refusal !== undefined)
  const call = async (request: RequestMessage): Promise<Fields> => {
    const name = textField(paramsOf(request)['name'])
    const refusal = refusalOf('tool', name)
    if (refusal !== undefined) {
      onRefused(name, refusal)
      return resultOf(request.id, refusedResult(refusal.agentMessage, { error: refusal.code }))
    }
    const cancelling = new AbortController()
    running.set(request.id, () => {
      cancelling.abort()
    })
    let tool = await tools.find(name)
    if (tool === undefined) {
      // Clients may call a tool without listing any.
      await Promise.all(links.map((link) => learnAll(link).catch(ignore)))
      tool = await tools.find(name)
    }
    if (tool === undefined)
      return errorAnswer(
        request.id,
        refusalOf('tool', name) ?? fail('mcp-tool-unknown', { tool: name }),
        RPC_ERRORS.invalidParams,
      )
    const client = clientOf(paramsOf(request))
    const canElicit = 'elicitation' in fieldsOf(client.capabilities)
    return callTool(cordon, tool, request, {
      by: user(speech.isStateless() ? client.info : undefined),
      isAskedInResults: isClientAsked && speech.isStateless() && canElicit,
      signal: cancelling.signal,
      onRefused,
    })
  }
  const introduceTo = async (link: ServerLink, request: RequestMessage): Promise<Fields> => {
    const params = introduce(paramsOf(request), link.source.allowed)
    const answer = offered.introduced(link, await relay(link, request, params))
    capabilities.set(link, fieldsOf(fieldsOf(answer['result'])['capabilities']))
    return answer
  }
  const introduceAll = async (request: RequestMessage): Promise<Fields> => {
    const answers = await Promise.all(links.map((link) => introduceTo(link, request)))
    const introduced = answers.flatMap((answer, at) =>
      'result' in answer ? [{ server: servers[at]?.name ?? '', result: fieldsOf(answer['result']) }] : [],
    )
    const [first] = answers
    return introduced.length === 0 && first !== undefined
      ? first
      : resultOf(request.id, introduceTogether(introduced, version))
  }
  const answerTogether = async (request: RequestMessage): Promise<Fields> => {
    const { id, method } = request
    if (method === METHODS.initialize) return introduceAll(request)
    if (method === METHODS.ping) return resultOf(id, {})
    if (method in LISTS) return listTogether(request)
    if (method === METHODS.setLevel) {
      const logging = links.filter((link) => 'logging' in (capabilities.get(link) ?? {}))
      await Promise.all(logging.map((link) => link.ask(request.fields).answer))
      return resultOf(id, {})
    }
    const found = router.route(method, paramsOf(request))
    const maker = instances.makerOf(request)
    // A server cannot take over what another one lists.
    if (maker !== undefined && (found instanceof CordonError || found.link.name === maker.name))
      return relay(maker, request)
    return found instanceof CordonError
      ? errorAnswer(id, found, method in LISTS ? RPC_ERRORS.invalidParams : RPC_ERRORS.unknownMethod)
      : relay(found.link, request, found.params)
  }
  const answerOf = async (request: RequestMessage): Promise<Fields> => {
    const [only] = links
    if (request.method === METHODS.initialize) introduction = paramsOf(request)
    if (request.method === METHODS.callTool) return call(request)
    if (request.method === METHODS.getPrompt) {
      const refusal = refusalOf('prompt', textField(paramsOf(request)['name']))
      if (refusal !== undefined) throw refusal
    }
    if (isShared || only === undefined) return answerTogether(request)
    const maker = instances.makerOf(request)
    if (maker !== undefined) return relay(maker, request)
    if (request.method === METHODS.initialize) return introduceTo(only, request)
    if (request.method in LISTS) return listOf(only, request)
    return relay(only, request)
  }
  const serve = async (request: RequestMessage): Promise<void> => {
    const { id } = request
    if (running.has(id)) {
      void send(errorAnswer(id, fail('mcp-not-routed', { what: `a second request ${id}` }), RPC_ERRORS.invalid))
      return
    }
    running.set(id, ignore)
    const answer = await answerOf(request).catch((error: unknown) => errorAnswer(id, asCordonError(error)))
    // A client that cancelled waits for no answer.
    if (!running.delete(id)) return
    const slow = sendOrRefuse(request, answer)
    if (slow !== undefined) for (const link of processes()) link.run().hold(slow)
  }
  /** An answer may be longer than the client takes. A model reads the results of calls. */
  const sendOrRefuse = ({ id, method }: RequestMessage, answer: Fields): Promise<void> | undefined => {
    try {
      return send(answer)
    } catch (failure) {
      const error = asCordonError(failure)
      onTrouble(error)
      return method === METHODS.callTool
        ? send(resultOf(id, refusedResult(error.agentMessage, { error: error.code })))
        : send(errorAnswer(id, error))
    }
  }
  const hear = (message: NotificationMessage): void => {
    const params = paramsOf(message)
    if (message.method === METHODS.cancelled) {
      const { requestId, ...given } = params
      const cancel = running.get(requestId as MessageId)
      running.delete(requestId as MessageId)
      cancel?.(given)
    } else if (message.method === METHODS.progress) fromServers.progress(message)
    else if (isNotification(message.method))
      for (const link of processes())
        if (message.method !== METHODS.rootsChanged || link.source.allowed.has('roots')) link.run().send(message.fields)
  }
  const takeMessage = (message: Message): void => {
    if (message.kind === 'request') void serve(message)
    else if (message.kind === 'notification') hear(message)
    else fromServers.answer(message)
  }
  return {
    take: (line) => {
      for (const message of readLine(line, 'client')) {
        if (message.kind !== 'garbage') speech.take(message)
        else void toClient({ jsonrpc: '2.0', id: null, error: { code: RPC_ERRORS.parse, message: message.problem } })
      }
    },
    approve,
    close: async () => {
      isClosing = true
      for (const cancel of running.values()) cancel({})
      fromServers.end()
      await Promise.all([...links.map((link) => link.close()), instances.close()])
    },
  }
}

/** Tools that the user hides are not there for clients. */
const exposedOf = (link: ServerLink, method: string, entries: readonly Fields[]): readonly Fields[] =>
  method === METHODS.listTools ? entries.filter(({ name }) => link.source.isExposed(textField(name))) : entries

const ignore = (): void => undefined
