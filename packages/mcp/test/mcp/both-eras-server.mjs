// A server of the official SDK, version 2. `session` speaks the revisions up to 2025-11-25, `stateless` 2026-07-28, and
// without a word it speaks both.
import { McpServer, ResourceTemplate, acceptedContent, inputRequired } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

const [, , era] = process.argv

const text = (said) => ({ content: [{ type: 'text', text: said }] })
const NAME = {
  message: 'Your name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
}

/** Calls of `count` that wait for `finish`. */
const counting = []

const make = () => {
  const server = new McpServer(
    { name: 'both-eras', version: '1' },
    { capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, logging: {} } },
  )
  server.registerTool('echo', { inputSchema: z.object({ said: z.string() }) }, ({ said }) => text(said))
  server.registerTool('greet', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    // Of an earlier revision, a server asks by itself.
    if (era === 'session') {
      const { action, content } = await mcpReq.elicitInput({ ...NAME, mode: 'form' })
      return text(action === 'accept' ? `Hello ${content.name}` : action)
    }
    const { name } = acceptedContent(mcpReq.inputResponses, 'who') ?? {}
    if (name !== undefined) return text(`Hello ${name}`)
    return inputRequired({
      inputRequests: { who: inputRequired.elicit(NAME) },
      requestState: 'the state of the server',
    })
  })
  server.registerTool('count', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (let progress = 1; progress <= 3; progress += 1)
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } })
    // A client that reads a message and the answer at once forgets the message.
    await new Promise((resolve) => counting.push(resolve))
    return text('counted')
  })
  server.registerTool('finish', { inputSchema: z.object({}) }, () => {
    for (const resolve of counting.splice(0)) resolve()
    return text('finished')
  })
  server.registerTool('grow', { inputSchema: z.object({}) }, () => {
    server.registerTool('grown', { inputSchema: z.object({}) }, () => text('grown'))
    return text('grew')
  })
  server.registerPrompt('hello', {}, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }] }))
  server.registerResource('one', 'test://one', {}, () => ({ contents: [{ uri: 'test://one', text: 'one' }] }))
  server.registerResource('any', new ResourceTemplate('test://{name}', {}), {}, (uri, { name }) => ({
    contents: [{ uri: uri.href, text: String(name) }],
  }))
  return server
}

if (era === 'session') await make().connect(new StdioServerTransport())
else serveStdio(make, { legacy: era === 'stateless' ? 'reject' : 'serve' })
