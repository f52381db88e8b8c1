// An MCP server that serves HTTP at a port, and knows no stdio. Words: the port.
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

const newServer = () => {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  const inputSchema = { path: z.string() }
  server.registerTool('read_note', { description: 'Reads a note', inputSchema }, ({ path }) => ({
    content: [{ type: 'text', text: readFileSync(path, 'utf8') }],
  }))
  return server
}

createServer(async (request, response) => {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
  await newServer().connect(transport)
  await transport.handleRequest(request, response)
}).listen(Number(process.argv[2]), '127.0.0.1')
