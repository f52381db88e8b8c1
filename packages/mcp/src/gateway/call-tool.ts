// One call of a tool: from the client through the gate to its server, and back.
import { CordonError } from 'cordon/errors'
import type { JsonValue } from 'cordon/gate'
import type { Cordon, ToolResult } from 'cordon'
import type { ServerInstance, ServerReply, ToolServer } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import { approvalAnswer, approvalRequest } from './ask-client.js'
import type { Instances, TakenInstance, ToolCell } from './instances.js'
import type { ServerLink } from './server-link.js'
import { errorAnswer, refusedResult } from '../wire/era-2025.js'
import { answersIn, inputRequired, withoutAnswers } from '../wire/era-2026.js'
import { RPC_ERRORS, fieldsOf, resultOf, textField } from '../wire/messages.js'
import type { Fields, RequestMessage } from '../wire/messages.js'

export interface ServedTool {
  readonly link: ServerLink
  /** As its server calls it. */
  readonly ownName: string
  /** Why it cannot be called: the gate cannot read its name or its schema. */
  readonly problem: CordonError | undefined
}

/** A request on its way: the server gets all of its fields, with the arguments that the gate judged. */
interface RelayedCall {
  readonly request: RequestMessage
  readonly ownName: string
  /** The error that the server answered, which the client gets as it is. */
  refusal: Fields | undefined
}

/** The instance that takes each call of a tool. `refusal`: why what it offers under this name cannot be used. */
export const serverOfTool = (
  { base, cell, ownName }: { readonly base: ServerLink; readonly cell: ToolCell; readonly ownName: string },
  instances: Instances,
  refusal: () => CordonError | undefined,
): ToolServer => ({
  name: base.name,
  instance: async () => {
    const taken = await instances.take(base, cell)
    try {
      const profile = taken.link.run().profile()
      if (profile === undefined) throw fail('mcp-server-ended', { server: base.name, how: 'it does not run' })
      const problem = refusal()
      if (problem !== undefined) throw problem
      if (!taken.hasTool(ownName)) throw fail('mcp-tool-unknown', { tool: ownName })
      return { profile, scope: taken.scope, giveBack: taken.giveBack, call: callingOn(taken, instances) }
    } catch (error) {
      taken.giveBack()
      throw error
    }
  },
})

const callingOn =
  (taken: TakenInstance, instances: Instances): ServerInstance['call'] =>
  async ({ input, signal, attachment }) => {
    const { link } = taken
    const relayed = attachment as RelayedCall
    const asked = link.ask({ ...relayed.request.fields, params: judgedParams(relayed, input) })
    const cancel = () => {
      link.run().cancel(asked)
    }
    if (signal?.aborted === true) cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    const answer = await asked.answer
    signal?.removeEventListener('abort', cancel)
    if (answer.kind === 'lost') return answer
    instances.remember(taken, fieldsOf(answer.fields['result']))
    return readReply(answer.fields, relayed)
  }

const judgedParams = ({ request, ownName }: RelayedCall, input: JsonValue): Fields => {
  const params = withoutAnswers(fieldsOf(request.fields['params']))
  // What was judged is sent. Only a call without arguments stays one.
  const isGiven = 'arguments' in params || Object.keys(fieldsOf(input)).length > 0
  return { ...params, name: ownName, ...(isGiven ? { arguments: input } : {}) }
}

const readReply = (fields: Fields, relayed: RelayedCall): ServerReply => {
  if ('error' in fields) {
    relayed.refusal = fields
    return { kind: 'refused', problem: textField(fieldsOf(fields['error'])['message'], 'an error without a message') }
  }
  const result = fieldsOf(fields['result'])
  // It was JSON when it came.
  return { kind: 'result', result: result as JsonValue, isError: result['isError'] === true }
}

/** The name of our question among those of a result. */
const APPROVAL = 'approval'

/** A call is decided again if the tools change meanwhile. */
const MOST_DECISIONS = 5

export interface Caller {
  /** Who sits at the client. */
  readonly by: string
  /** Whether a call that asks becomes a result that asks (2026-07-28). */
  readonly isAskedInResults: boolean
  readonly signal: AbortSignal
  readonly onRefused: OnRefused
}

/** For the operator: a call did not run. `tool`: as clients name it. */
export type OnRefused = (
  tool: string,
  error: { readonly code: string; readonly message: string; readonly fix?: string | null | undefined },
) => void

export const callTool = async (
  cordon: Pick<Cordon, 'call' | 'resume'>,
  { link, ownName, problem }: ServedTool,
  request: RequestMessage,
  { by, isAskedInResults, signal, onRefused }: Caller,
): Promise<Fields> => {
  const { id } = request
  const params = fieldsOf(request.fields['params'])
  const name = textField(params['name'])
  if (problem !== undefined) {
    onRefused(name, problem)
    return resultOf(id, refusedResult(problem.agentMessage, { error: problem.code }))
  }
  const relayed: RelayedCall = { request, ownName, refusal: undefined }
  const input = params['arguments'] ?? {}
  const { state, responses } = answersIn(params)
  if (state !== undefined && !isAskedInResults)
    return errorAnswer(
      id,
      fail('ticket-refused', { problem: 'is unknown, used or expired', fix: 'make the call again' }),
      RPC_ERRORS.invalidParams,
    )
  const call = (): Promise<ToolResult> =>
    state !== undefined
      ? cordon.resume(textField(state), approvalAnswer(fieldsOf(responses[APPROVAL]), by), {
          signal,
          attachment: relayed,
          expected: { tool: name, input },
        })
      : cordon.call(name, input, { signal, attachment: relayed, onAsk: isAskedInResults ? 'suspend' : 'wait' })
  try {
    for (let decisions = 1; ; decisions += 1) {
      const result = await call()
      if (relayed.refusal !== undefined) return { ...relayed.refusal, id }
      if (result.status === 'pending') {
        const question = approvalRequest(name, input as JsonValue, result.approval.reason)
        return resultOf(id, inputRequired({ [APPROVAL]: question }, result.ticket))
      }
      if (result.facts.error?.code !== 'call-outdated' || decisions === MOST_DECISIONS) {
        if (result.status === 'denied' && result.facts.error !== null) onRefused(name, result.facts.error)
        return resultOf(id, answerOf(result, link))
      }
    }
  } catch (error) {
    if (error instanceof CordonError)
      return errorAnswer(id, error, error.code === 'ticket-refused' ? RPC_ERRORS.invalidParams : undefined)
    throw error
  }
}

/** The server's own result, or the reason why there is none. */
const answerOf = (result: ToolResult, { name }: ServerLink): Fields => {
  // A hook may withhold the output of a call that succeeded.
  const output: JsonValue | undefined = result.output
  if (output !== undefined) return fieldsOf(output)
  const { call_id, error } = result.facts
  return refusedResult(result.status === 'ok' ? 'The result is withheld.' : result.reason, {
    status: result.status,
    server: name,
    call: call_id,
    ...(error === null ? {} : { error: error.code }),
  })
}
