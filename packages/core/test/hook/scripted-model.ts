// A model on loopback that calls one tool and then ends: enough of the Messages, the Responses and the Gemini API for a
// real agent.
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ToolCall {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** A function gets the results of the calls before. */
export type ScriptedCall = ToolCall | ((results: readonly string[]) => ToolCall)

export interface ScriptedModel {
  readonly url: string
  /** What the agent told the model about the calls, in order. */
  readonly results: readonly string[]
  readonly close: () => Promise<void>
}

interface Asked {
  readonly stream?: boolean
  readonly tools?: readonly unknown[]
  readonly messages?: readonly { readonly content: unknown }[]
  readonly input?: readonly { readonly type?: string; readonly output?: unknown }[]
  readonly contents?: readonly { readonly parts?: readonly GeminiPart[] }[]
}

interface GeminiPart {
  readonly functionResponse?: { readonly response: unknown }
}

export const startModel = async (calls: readonly ScriptedCall[]): Promise<ScriptedModel> => {
  let results: readonly string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url ?? ''
      if (request.method !== 'POST' || !/\/(?:messages|responses)(?:\?|$)|:streamGenerateContent/.test(path)) {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[],"input_tokens":1}')
        return
      }
      const asked = JSON.parse(Buffer.concat(chunks).toString()) as Asked
      const told =
        asked.contents !== undefined
          ? responsesIn(asked)
          : asked.messages === undefined
            ? outputsIn(asked)
            : toolResultsIn(asked)
      if (told.length >= results.length) results = told
      // Requests without tools are the agent's own, such as one for a title.
      const scripted = (asked.tools ?? []).length === 0 ? undefined : calls[told.length]
      const call = typeof scripted === 'function' ? scripted(told) : scripted
      if (asked.contents !== undefined) sendGemini(response, call)
      else if (asked.messages === undefined) sendResponses(response, call)
      else sendMessages(response, call, asked.stream === true)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    get results() {
      return results
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => {
          resolve()
        })
      }),
  }
}

const toolResultsIn = ({ messages = [] }: Asked): readonly string[] =>
  messages.flatMap(({ content }) =>
    Array.isArray(content)
      ? (content as { readonly type?: string; readonly content?: unknown }[])
          .filter(({ type }) => type === 'tool_result')
          .map((each) => textOf(each.content))
      : [],
  )

const outputsIn = ({ input = [] }: Asked): readonly string[] =>
  input.filter(({ type }) => type?.endsWith('_call_output') === true).map(({ output }) => textOf(output))

const responsesIn = ({ contents = [] }: Asked): readonly string[] =>
  contents.flatMap(({ parts = [] }) =>
    parts.flatMap(({ functionResponse: each }) => (each === undefined ? [] : [textOf(each.response)])),
  )

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const sse = (response: ServerResponse, events: readonly Readonly<Record<string, unknown>>[]): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(`event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}

const USAGE = { input_tokens: 1, output_tokens: 1 }

const sendMessages = (response: ServerResponse, call: ToolCall | undefined, isStream: boolean): void => {
  const block =
    call === undefined
      ? { type: 'text', text: 'done' }
      : { type: 'tool_use', id: `toolu_${String(Date.now())}`, name: call.name, input: call.input }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', usage: USAGE }
  const stop = { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null }
  if (!isStream) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...message, ...stop, content: [block] }))
    return
  }
  const delta =
    call === undefined
      ? { type: 'text_delta', text: 'done' }
      : { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
  const empty = call === undefined ? { type: 'text', text: '' } : { ...block, input: {} }
  sse(response, [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: empty },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: stop, usage: USAGE },
    { type: 'message_stop' },
  ])
}

const sendResponses = (response: ServerResponse, call: ToolCall | undefined): void => {
  const id = `call_${String(Date.now())}`
  const item =
    call === undefined
      ? { type: 'message', role: 'assistant', id: 'm_1', content: [{ type: 'output_text', text: 'done' }] }
      : typeof call.input['patch'] === 'string'
        ? { type: 'custom_tool_call', id: `ctc_${id}`, call_id: id, name: call.name, input: call.input['patch'] }
        : { type: 'function_call', id: `fc_${id}`, call_id: id, name: call.name, arguments: JSON.stringify(call.input) }
  sse(response, [
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_item.done', output_index: 0, item },
    {
      type: 'response.completed',
      response: {
        id: 'resp_1',
        usage: { ...USAGE, total_tokens: 2, input_tokens_details: null, output_tokens_details: null },
      },
    },
  ])
}

const sendGemini = (response: ServerResponse, call: ToolCall | undefined): void => {
  const part = call === undefined ? { text: 'done' } : { functionCall: { name: call.name, args: call.input } }
  const candidate = { index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`data: ${JSON.stringify({ candidates: [candidate], usageMetadata: { totalTokenCount: 2 } })}\n\n`)
}
