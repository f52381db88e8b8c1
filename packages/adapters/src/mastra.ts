// Tools of a runtime for agents of Mastra (package `@mastra/core`, version 1). Nothing of the SDK is loaded.
import type { ApprovalAnswer, JsonSchema } from 'cordon/gate'
import { toModel } from 'cordon'
import type { ModelResult } from 'cordon'
import type { ModelNameOf } from './model-name.js'
import { createSdkCalls } from './sdk-calls.js'
import type { AdapterOptions, AnsweredCall, SdkCall, SdkRuntime, SuspendedCall } from './sdk-calls.js'

export type { AdapterOptions, SuspendedCall }

/** A tool as Mastra takes it. Its package needs a newer Node than Cordon, so its types are not taken from there. */
export interface MastraTool {
  readonly id: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly execute: (input: unknown, context: MastraContext) => Promise<ModelResult | undefined>
  readonly toModelOutput: (output: ModelResult) => { type: 'text' | 'error-text'; value: string }
}

interface MastraContext {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal
  readonly resumeData?: unknown
  readonly suspend?: (payload: unknown) => Promise<unknown>
  readonly outputWriter?: (chunk: unknown) => Promise<void>
}

/** For `tools` of an `Agent`. With `onAsk: 'suspend'` its Mastra needs a storage. */
export const mastraTools = <const Runtime extends SdkRuntime>(
  cordon: Runtime,
  options: AdapterOptions = {},
): Record<ModelNameOf<Runtime>, MastraTool> => {
  const calls = createSdkCalls(cordon, options)
  const tools: Record<string, MastraTool> = Object.fromEntries(
    calls.tools.map(({ modelName: id, description, inputSchema }) => [
      id,
      {
        id,
        description,
        inputSchema,
        execute: async (input, { toolCallId, abortSignal: signal, resumeData, suspend, outputWriter }) => {
          const call: SdkCall = { id: toolCallId, tool: id, input, signal }
          const answered = resumeData as Partial<AnsweredCall> | undefined
          if (answered !== undefined)
            return toModel(await calls.goOn(call, answered, 'go on with resumeGenerate(resumeWith(…))'))
          // Output and progress are chunks `tool-output` of the stream.
          const result = await calls.runTelling(call, (output) =>
            outputWriter?.({ type: 'tool-output', from: 'USER', payload: { output, toolCallId, toolName: id } }),
          )
          if (result.status !== 'pending' || suspend === undefined) return toModel(result)
          await suspend(calls.suspended().find((each) => each.id === toolCallId))
          return undefined
        },
        toModelOutput: ({ isError, text }) => ({ type: isError ? 'error-text' : 'text', value: text }),
      },
    ]),
  )
  return tools
}

/** The value for `agent.resumeGenerate` and `agent.resumeStream`: a person's answer to the call of a suspended run. */
export const resumeWith = (call: SuspendedCall, answer?: ApprovalAnswer): AnsweredCall => ({ call, answer })
