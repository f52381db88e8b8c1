// Requests to the gateway over HTTP, by hand.
import { request } from 'node:http'

export type Fields = Readonly<Record<string, unknown>>

const JSON_HEADERS = { 'content-type': 'application/json', 'accept': 'application/json, text/event-stream' }

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** Messages of the body: one, or those of a stream. */
  readonly messages: readonly Fields[]
}

/** Node's own client, because `fetch` does not let a test choose its Host. */
export const post = (
  url: string,
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: { ...JSON_HEADERS, ...headers } }, (response) => {
      let body = ''
      response.on('data', (bytes: Buffer) => (body += bytes.toString()))
      response.on('end', () => {
        const lines = body.startsWith('event:') ? body.split('\n').filter((line) => line.startsWith('data: ')) : [body]
        const messages = lines
          .map((line) => line.replace(/^data: /, ''))
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as Fields)
        resolve({ status: response.statusCode ?? 0, headers: response.headers, messages })
      })
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(message))
  })

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
}

/** A request of revision 2026-07-28, with its headers. */
export const ask = (
  url: string,
  method: string,
  params: Fields,
  { id = 1, meta = META, headers = {} }: { id?: number; meta?: Fields; headers?: Record<string, string> } = {},
): Promise<Answered> =>
  post(
    url,
    { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } },
    {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}),
      ...headers,
    },
  )

export const resultOf = ({ messages }: Answered): Fields => (messages.at(-1)?.['result'] ?? {}) as Fields
export const errorOf = ({ messages }: Answered): Fields => (messages.at(-1)?.['error'] ?? {}) as Fields
export const saidIn = (answered: Answered): string => JSON.stringify(resultOf(answered)['content'] ?? null)
