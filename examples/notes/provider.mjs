// A provider of models on loopback. Its model wants one call after the other, and then ends.
import { createServer } from 'node:http'

import { WANTED } from './runtime.mjs'

const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value))

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
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted' },
      content: [call ? { type: 'tool_use', id, name: call.name, input: call.input } : { type: 'text', text: 'done' }],
      ...{ stop_reason: call ? 'tool_use' : 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } },
    }),
  },
}

export const startProvider = async () => {
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
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(api.reply(`call-${heard.length}`, WANTED[heard.length])))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}`, heard, close: () => server.close().closeAllConnections() }
}
