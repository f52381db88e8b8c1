// Tools of a runtime for OpenAI: chat completions and responses (package `openai`), and agents (package
// `@openai/agents`). Nothing of the packages is loaded.
import type { FunctionTool } from '@openai/agents'
import type { ChatCompletionFunctionTool, ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { FunctionTool as ResponseFunctionTool, ResponseInputItem } from 'openai/resources/responses/responses'

import { CordonError } from 'cordon/errors'
import { toModel } from 'cordon'
import type { ListedTool } from 'cordon'
import { createSdkCalls } from './sdk-calls.js'
import type { AdapterOptions, SdkCall, SdkRuntime, SuspendedCall, Suspending } from './sdk-calls.js'

export type { AdapterOptions, SuspendedCall }

export interface ChatTools extends Suspending {
  readonly tools: ChatCompletionFunctionTool[]
  /** Runs the calls of the last message that have no result yet, and returns the conversation with their results. */
  readonly runCalls: (messages: readonly ChatCompletionMessageParam[]) => Promise<ChatCompletionMessageParam[]>
}

export const chatTools = (cordon: SdkRuntime, options: AdapterOptions = {}): ChatTools => {
  const calls = createSdkCalls(cordon, options)
  return {
    suspended: calls.suspended,
    answer: calls.answer,
    tools: calls.tools.map((tool) => ({ type: 'function', function: signatureOf(tool) })),
    runCalls: async (messages) => {
      const ended = new Set(messages.flatMap((each) => (each.role === 'tool' ? [each.tool_call_id] : [])))
      const texts = await calls.texts(callsOf(messages), (id) => ended.has(id))
      return [...messages, ...texts.map(({ id, text }) => ({ role: 'tool' as const, tool_call_id: id, content: text }))]
    },
  }
}

const signatureOf = ({ modelName: name, description, inputSchema }: ListedTool) => ({
  name,
  description,
  parameters: { ...inputSchema } as FunctionTool['parameters'],
})

/** The gate checks the input. A strict schema could not have optional properties. */
const functionOf = (tool: ListedTool) => ({ type: 'function' as const, ...signatureOf(tool), strict: false })

const callsOf = (messages: readonly ChatCompletionMessageParam[]): readonly SdkCall[] => {
  const last = messages.findLast(({ role }) => role === 'assistant')
  if (last?.role !== 'assistant') return []
  return (last.tool_calls ?? []).flatMap((call) =>
    call.type === 'function' ? [{ id: call.id, tool: call.function.name, input: call.function.arguments }] : [],
  )
}

export interface ResponseTools extends Suspending {
  readonly tools: ResponseFunctionTool[]
  /** Runs the calls that have no result yet, and returns the conversation with their results. */
  readonly runCalls: (items: readonly ResponseInputItem[]) => Promise<ResponseInputItem[]>
}

export const responseTools = (cordon: SdkRuntime, options: AdapterOptions = {}): ResponseTools => {
  const calls = createSdkCalls(cordon, options)
  return {
    suspended: calls.suspended,
    answer: calls.answer,
    tools: calls.tools.map(functionOf),
    runCalls: async (items) => {
      const ended = new Set(items.flatMap((each) => (each.type === 'function_call_output' ? [each.call_id] : [])))
      const asked = items.flatMap((each) =>
        each.type === 'function_call' ? [{ id: each.call_id, tool: each.name, input: each.arguments }] : [],
      )
      const texts = await calls.texts(asked, (id) => ended.has(id))
      return [
        ...items,
        ...texts.map(({ id, text }) => ({ type: 'function_call_output' as const, call_id: id, output: text })),
      ]
    },
  }
}

export interface AgentTools extends Suspending {
  /** For `tools` of an `Agent`. A suspended call is one of the `interruptions` of its run. */
  readonly tools: FunctionTool<unknown, undefined, string>[]
}

export const agentTools = (cordon: SdkRuntime, options: AdapterOptions = {}): AgentTools => {
  const calls = createSdkCalls(cordon, options)
  return {
    suspended: calls.suspended,
    answer: calls.answer,
    tools: calls.tools.map((tool) => ({
      ...functionOf(tool),
      isEnabled: () => Promise.resolve(true),
      needsApproval: async (_, input, callId = '') =>
        (await calls.suspend({ id: callId, tool: tool.modelName, input })) !== undefined,
      invoke: async (_, input, { toolCall, signal } = {}) => {
        const call = { id: toolCall?.callId ?? '', tool: tool.modelName, input, signal }
        try {
          return toModel(await calls.run(call)).text
        } catch (error) {
          if (error instanceof Error && error.cause instanceof CordonError) return error.message
          throw error
        }
      },
    })),
  }
}
