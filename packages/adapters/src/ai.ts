// Tools of a runtime for the AI SDK (package `ai`, version 7). Nothing of the SDK is loaded.
import type { ToolApprovalStatus, ToolExecutionOptions } from 'ai'

import type { JsonSchema } from 'cordon/gate'
import { toModel } from 'cordon'
import type { ModelResult } from 'cordon'
import type { ModelNameOf } from './model-name.js'
import { createSdkCalls } from './sdk-calls.js'
import type { AdapterOptions, SdkCalls, SdkRuntime, SuspendedCall, Suspending } from './sdk-calls.js'

export type { AdapterOptions, SuspendedCall }

/** For `tools` and `toolApproval` of `generateText`, `streamText` and `ToolLoopAgent`. */
export interface AiTools<Name extends string = string> extends Suspending {
  readonly tools: Record<Name, AiTool>
  readonly toolApproval: Record<
    Name,
    (input: unknown, call: { readonly toolCallId: string }) => Promise<ToolApprovalStatus>
  >
}

/** The output of a tool. It may be shown to a user: facts about the host are not part of it. */
export type AiOutput = ModelResult | { readonly status: 'running'; readonly text: string; readonly progress?: unknown }

interface AiTool {
  readonly description: string
  readonly inputSchema: OpenSchema
  readonly execute: (
    input: unknown,
    call: Pick<ToolExecutionOptions<unknown>, 'toolCallId' | 'abortSignal'>,
  ) => AsyncIterable<AiOutput>
  readonly toModelOutput: (told: { readonly output: AiOutput }) => { type: 'text' | 'error-text'; value: string }
}

/** The input of a tool is unknown, because the gate checks it after the SDK. */
export const aiTools = <const Runtime extends SdkRuntime>(
  cordon: Runtime,
  options: AdapterOptions = {},
): AiTools<ModelNameOf<Runtime>> => {
  const calls = createSdkCalls(cordon, options)
  const adapter: AiTools = {
    suspended: calls.suspended,
    answer: calls.answer,
    tools: Object.fromEntries(
      calls.tools.map(({ modelName, description, inputSchema }) => [
        modelName,
        {
          description,
          inputSchema: openSchema(inputSchema),
          execute: (input, { toolCallId, abortSignal }) =>
            outputsOf(calls, { id: toolCallId, tool: modelName, input, signal: abortSignal }),
          toModelOutput: ({ output }) => ({
            type: 'isError' in output && output.isError ? 'error-text' : 'text',
            value: output.text,
          }),
        },
      ]),
    ),
    toolApproval: Object.fromEntries(
      calls.tools.map(({ modelName }) => [
        modelName,
        async (input, { toolCallId }) => {
          const call = await calls.suspend({ id: toolCallId, tool: modelName, input })
          return call === undefined ? undefined : { type: 'user-approval', reason: call.approval.reason }
        },
      ]),
    ),
  }
  return adapter
}

/** The SDK shows each output in place of the one before, and gives the model the last. */
const SHOWN_CHARACTERS = 10_000

async function* outputsOf(calls: SdkCalls, call: Parameters<SdkCalls['stream']>[0]): AsyncGenerator<AiOutput> {
  let text = ''
  for await (const part of calls.stream(call)) {
    if (part.kind === 'result') yield toModel(part.result)
    else if (part.kind === 'progress') yield { status: 'running', text, progress: part.value }
    else if (part.kind === 'output') {
      text = (text + part.text).slice(-SHOWN_CHARACTERS)
      yield { status: 'running', text }
    }
  }
}

/** Accepts everything: the gate checks the input, and records what it refuses. */
const openSchema = (schema: JsonSchema) => {
  // The SDK changes the schema that it gets.
  const given = () => structuredClone(schema) as Record<string, unknown>
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'cordon',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: given, output: given },
    },
  }
}

type OpenSchema = ReturnType<typeof openSchema>
