// Tools of a runtime for LangChain (package `langchain`, version 1), as a middleware of `createAgent`.
import { ToolMessage, createMiddleware, tool } from 'langchain'
import type { AgentMiddleware } from 'langchain'

import { bug } from 'cordon/errors'
import type { ApprovalAnswer } from 'cordon/gate'
import { toModel } from 'cordon'
import type { ToolResult } from 'cordon'
import { createSdkCalls } from './sdk-calls.js'
import type { AdapterOptions, AnsweredCall, SdkCall, SdkCalls, SdkRuntime, SuspendedCall } from './sdk-calls.js'

export type { AdapterOptions, SuspendedCall }

/** Lets the agent use the tools. With `onAsk: 'suspend'` the agent needs a checkpointer. */
export const langchainMiddleware = (cordon: SdkRuntime, options: AdapterOptions = {}): AgentMiddleware => {
  const calls = createSdkCalls(cordon, options)
  const names = new Set(calls.tools.map(({ modelName }) => modelName))
  return createMiddleware({
    name: 'Cordon',
    tools: calls.tools.map(({ modelName: name, description, inputSchema: schema }) =>
      tool(() => bug('the middleware runs this tool'), { name, description, schema: schema as { type: 'object' } }),
    ),
    wrapToolCall: async (request, handler) => {
      const { id = '', name, args: input } = request.toolCall
      if (!names.has(name)) return handler(request)
      const { signal, writer = ignore, interrupt = noInterrupt } = request.runtime
      const call: SdkCall = { id, tool: name, input, signal }
      // Output and progress go to the stream `custom` of the agent.
      const run = () =>
        calls.runTelling(call, (part) => {
          writer({ id, tool: name, ...part })
        })
      const result = options.onAsk === 'suspend' ? await runOrInterrupt(calls, call, run, interrupt) : await run()
      return messageOf(call, result)
    },
  })
}

/** The value for `new Command({ resume })`: the answers of people to interrupts of a run. */
export const resumeWith = (
  interrupts: readonly LangchainInterrupt[],
  answer: (call: SuspendedCall) => ApprovalAnswer | undefined,
): Record<string, AnsweredCall> =>
  Object.fromEntries(
    interrupts.map(({ id = '', value }) => {
      const call = value as SuspendedCall
      return [id, { call, answer: answer(call) }]
    }),
  )

interface LangchainInterrupt {
  readonly id?: string
  readonly value?: unknown
}

/**
 * LangGraph runs a call from its start again when somebody has answered, and then `interrupt` gives the answer. So it
 * is asked first. Without an answer it throws, and that is passed on only if the call has to wait.
 */
const runOrInterrupt = async (
  calls: SdkCalls,
  call: SdkCall,
  run: () => Promise<ToolResult>,
  interrupt: (question: object) => unknown,
): Promise<ToolResult> => {
  const question = {}
  let answered: Partial<AnsweredCall> | undefined
  try {
    answered = interrupt(question) as Partial<AnsweredCall> | undefined
  } catch (stop) {
    if (!(stop instanceof Error) || stop.name !== 'GraphInterrupt') throw stop
    const result = await run()
    if (result.status !== 'pending') return result
    Object.assign(
      question,
      calls.suspended().find(({ id }) => id === call.id),
    )
    throw stop
  }
  return calls.goOn(call, answered, 'go on with new Command({ resume: resumeWith(…) })')
}

const ignore = (): void => undefined
const noInterrupt = (): never => bug('LangGraph gives no interrupt')

/** The model does not get the artifact. */
const messageOf = ({ id, tool: name }: SdkCall, result: ToolResult): ToolMessage => {
  const { text, isError } = toModel(result)
  return new ToolMessage({
    name,
    content: text,
    tool_call_id: id,
    artifact: { facts: result.facts },
    status: isError ? 'error' : 'success',
  })
}
