// An MCP server of the official SDK behind TLS that accepts only tokens issued for it.
import type { IncomingMessage, ServerResponse } from 'node:http'

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

import { startHttps } from '../../../core/test/egress/servers.js'
import type { TestServer } from '../../../core/test/egress/servers.js'

import type { AuthorizationServer } from './authorization-server.js'

export interface ProtectedServer extends TestServer {
  readonly url: URL
  /** Headers `Authorization` of requests, oldest first. */
  readonly authorizations: () => readonly (string | undefined)[]
  /** What it publishes about itself. */
  metadata: Record<string, unknown>
  /** Answers requests in its place, if it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Needed for every request. */
  scope: string
}

export const startProtectedServer = async (
  authority: () => AuthorizationServer,
  host = 'mcp.test',
): Promise<ProtectedServer> => {
  const authorizations: (string | undefined)[] = []
  const server = await startHttps(
    (request, response) => {
      void answer(request, response)
    },
    { host },
  )
  const origin = `https://${host}:${server.port}`
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (started.intercept(request, response)) return
    if (request.url === '/.well-known/oauth-protected-resource/mcp') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(started.metadata))
      return
    }
    authorizations.push(request.headers.authorization)
    const refusal = await judge(request.headers.authorization)
    if (refusal === undefined) {
      await serveMcp(request, response)
      return
    }
    response.writeHead(refusal.status, { 'www-authenticate': `Bearer ${refusal.challenge}` }).end()
  }
  const judge = async (header: string | undefined): Promise<{ status: number; challenge: string } | undefined> => {
    const where = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="${started.scope}"`
    const token = await authority().provider.AccessToken.find(header?.replace(/^Bearer /, '') ?? '')
    const audiences = [token?.aud ?? []].flat()
    if (token === undefined || token.isExpired || !audiences.includes(started.url.href))
      return { status: 401, challenge: where }
    return token.scopes.has(started.scope)
      ? undefined
      : { status: 403, challenge: `error="insufficient_scope", ${where}` }
  }
  const started: ProtectedServer = {
    ...server,
    url: new URL(`${origin}/mcp`),
    authorizations: () => authorizations,
    metadata: {},
    intercept: () => false,
    scope: 'files:read',
  }
  started.metadata = { resource: started.url.href, authorization_servers: [authority().issuer] }
  return started
}

const serveMcp = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const server = new McpServer({ name: 'protected', version: '1' })
  server.registerTool('whoami', { description: 'says who asks' }, () => ({
    content: [{ type: 'text', text: 'you are the user' }],
  }))
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  await transport.handleRequest(request, response)
}

/** A call of its tool, as the body of a request. */
export const WHOAMI = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'whoami', arguments: {} },
})
