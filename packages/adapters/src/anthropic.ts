// Tools of a runtime for the Messages API and the tool runner of `@anthropic-ai/sdk`. Nothing of it is loaded.
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import type { MessageParam, Tool, ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages'

import { toModel } from 'cordon'
import { createSdkCalls } from './sdk-calls.js'
import type { AdapterOptions, CallText, SdkCall, SdkRuntime, SuspendedCall, Suspending } from './sdk-calls.js'

export type { AdapterOptions, SuspendedCall }

export interface AnthropicTools extends Suspending {
  /** For `client.messages.create`. */
  readonly tools: Tool[]
  /** For `client.beta.messages.toolRunner`. */
  readonly runnerTools: BetaRunnableTool<unknown>[]
  /** Runs the calls of the last reply that have no result yet, and returns the conversation with their results. */
  readonly runCalls: (messages: readonly MessageParam[]) => Promise<MessageParam[]>
}

export const anthropicTools = (cordon: SdkRuntime, options: AdapterOptions = {}): AnthropicTools => {
  const calls = createSdkCalls(cordon, options)
  const tools = calls.tools.map(({ modelName: name, description, inputSchema }) => ({
    name,
    description,
    input_schema: { ...inputSchema, type: 'object' as const },
  }))
  return {
    suspended: calls.suspended,
    answer: calls.answer,
    tools,
    runnerTools: tools.map((each) => ({
      ...each,
      parse: (input) => input,
      run: async (input, context) => {
        const call = { id: context?.toolUse.id ?? '', tool: each.name, input, signal: context?.signal ?? undefined }
        const { text, isError } = toModel(await calls.run(call))
        // The runner marks the result of a tool that throws.
        if (isError) throw new Error(text)
        return text
      },
    })),
    runCalls: async (messages) => {
      const at = messages.findLastIndex(({ role }) => role === 'assistant')
      const after = messages[at + 1]
      const given = Array.isArray(after?.content) ? after.content : []
      const ended = new Set(given.flatMap((each) => (each.type === 'tool_result' ? [each.tool_use_id] : [])))
      const texts = await calls.texts(callsOf(messages[at]), (id) => ended.has(id))
      if (texts.length === 0) return [...messages]
      const ids = new Set(texts.map(({ id }) => id))
      // All results of a reply belong into one message, first of all. A result of before gives way.
      const others = given.filter((each) => each.type !== 'tool_result' || !ids.has(each.tool_use_id))
      const results = { role: 'user' as const, content: [...texts.map(resultOf), ...others] }
      return [...messages.slice(0, at + 1), results, ...messages.slice(at + 2)]
    },
  }
}

const callsOf = (reply: MessageParam | undefined): readonly SdkCall[] =>
  reply === undefined || typeof reply.content === 'string'
    ? []
    : reply.content.flatMap((each) =>
        each.type === 'tool_use' ? [{ id: each.id, tool: each.name, input: each.input }] : [],
      )

const resultOf = ({ id, text, isError }: CallText): ToolResultBlockParam => ({
  type: 'tool_result',
  tool_use_id: id,
  content: text,
  ...(isError ? { is_error: true } : {}),
})
