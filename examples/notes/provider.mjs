// A provider of models on loopback. Its model wants one call after the other, and then ends.
import { createServer } from 'node:http'

import { WANTED } from './runtime.mjs'

const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value))

/** A reply of the Messages API in parts. */
const partsOf = ({ content: [block], stop_reason, usage, ...message }) => {
  const isCall = block.type === 'tool_use'
  const delta = isCall
    ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    : { type: 'text_delta', text: block.text }
  return [
    { type: 'message_start', message: { ...message, usage, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { ...block, ...(isCall ? { input: {} } : { text: '' }) } },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

/** By the end of the path: what the model was told about its calls, and its next reply. */
const APIS = {
  '/chat/completions': {
    told: ({ messages }) => messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
    reply: (id, call) => {
      const wanted = call && {
        id,
        type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.input) },
      }
      const message = { role: 'assistant', content: call ? null : 'done', ...(call && { tool_calls: [wanted] }) }
      const choice = { index: 0, message, finish_reason: call ? 'tool_calls' : 'stop', logprobs: null }
      return { id: 'chat-1', object: 'chat.completion', created: 0, model: 'scripted', choices: [choice] }
    },
  },
  '/responses': {
    told: ({ input }) =>
      input.filter(({ type }) => type === 'function_call_output').map(({ output }) => textOf(output)),
    reply: (id, call) => {
      const item = call
        ? { type: 'function_call', id: `fc_${id}`, call_id: id, name: call.name, arguments: JSON.stringify(call.input) }
        : {
            type: 'message',
            id: 'm_1',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'done', annotations: [] }],
          }
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
      return { id: 'resp_1', object: 'response', status: 'completed', model: 'scripted', output: [item], usage }
    },
  },
  '/messages': {
    told: ({ messages }) =>
      messages
        .flatMap(({ content }) => (Array.isArray(content) ? content : []))
        .filter(({ type }) => type === 'tool_result')
        .map(({ content }) => textOf(content)),
    reply: (id, call) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [call ? { type: 'tool_use', id, name: call.name, input: call.input } : { type: 'text', text: 'done' }],
      stop_reason: call ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  },
}

export const startProvider = async (wanted = WANTED) => {
  const heard = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const [, api] = Object.entries(APIS).find(([path]) => request.url.split('?')[0].endsWith(path)) ?? []
    if (api === undefined) return response.writeHead(404).end()
    const asked = JSON.parse(body)
    // The tool runner of Anthropic sends only what is new of a thread.
    if (asked.thread?.type !== 'continue') heard.length = 0
    heard.push(...api.told(asked))
    const reply = api.reply(`call-${heard.length}`, wanted[heard.length])
    response.writeHead(200, { 'content-type': asked.stream ? 'text/event-stream' : 'application/json' })
    if (!asked.stream) return response.end(JSON.stringify(reply))
    for (const part of partsOf(reply)) response.write(`event: ${part.type}\ndata: ${JSON.stringify(part)}\n\n`)
    response.end()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}`, heard, close: () => server.close().closeAllConnections() }
}
