// One call of a tool: from the client through the gate to its server, and back.
import { CordonError } from '../errors/index.js'
import type { JsonValue } from '../gate/index.js'
import type { Cordon, ToolResult } from '../runtime/index.js'
import type { ServerReply, ToolServer } from '../runtime/tools/index.js'

import type { ServerLink } from './server-link.js'
import { errorAnswer, refusedResult } from './wire/era-2025.js'
import { fieldsOf, resultOf, textOf } from './wire/messages.js'
import type { Fields, RequestMessage } from './wire/messages.js'

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

export const serverOfTools = (link: ServerLink): ToolServer => ({
  name: link.name,
  profile: link.profile,
  call: async ({ input, signal, attachment }) => {
    const relayed = attachment as RelayedCall
    const asked = link.ask({ ...relayed.request.fields, params: judgedParams(relayed, input) })
    const cancel = () => {
      link.cancel(asked)
    }
    if (signal?.aborted === true) cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    const answer = await asked.answer
    signal?.removeEventListener('abort', cancel)
    return answer.kind === 'lost' ? answer : readReply(answer.fields, relayed)
  },
})

const judgedParams = ({ request, ownName }: RelayedCall, input: JsonValue): Fields => {
  const params = fieldsOf(request.fields['params'])
  return { ...params, name: ownName, ...('arguments' in params ? { arguments: input } : {}) }
}

const readReply = (fields: Fields, relayed: RelayedCall): ServerReply => {
  if ('error' in fields) {
    relayed.refusal = fields
    return { kind: 'refused', problem: textOf(fieldsOf(fields['error'])['message'], 'an error without a message') }
  }
  const result = fieldsOf(fields['result'])
  // It was JSON when it came.
  return { kind: 'result', result: result as JsonValue, isError: result['isError'] === true }
}

/** A call is decided again if the tools change meanwhile. */
const MOST_DECISIONS = 5

export const callTool = async (
  cordon: Pick<Cordon, 'call'>,
  { link, ownName, problem }: ServedTool,
  request: RequestMessage,
  signal: AbortSignal,
): Promise<Fields> => {
  const { id } = request
  const params = fieldsOf(request.fields['params'])
  const name = textOf(params['name'])
  if (problem !== undefined) return resultOf(id, refusedResult(problem.agentMessage, { error: problem.code }))
  const relayed: RelayedCall = { request, ownName, refusal: undefined }
  try {
    for (let decisions = 1; ; decisions += 1) {
      const result = await cordon.call(name, params['arguments'] ?? {}, { signal, attachment: relayed })
      if (relayed.refusal !== undefined) return { ...relayed.refusal, id }
      if (result.facts.error?.code !== 'call-outdated' || decisions === MOST_DECISIONS)
        return resultOf(id, answerOf(result, link))
    }
  } catch (error) {
    if (error instanceof CordonError) return errorAnswer(id, error)
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
    ...{ status: result.status, server: name, call: call_id },
    ...(error === null ? {} : { error: error.code }),
  })
}
