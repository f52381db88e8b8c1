// One request over HTTP. Redirects are not followed, and no cookie is kept.
import { Agent as HttpAgent, request as requestHttp } from 'node:http'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'

import { MOST_REQUESTS_OF_CALL } from 'cordon/shapes'

import { HttpFailure } from './http-failure.js'

export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** Answers and notifications never wait for requests: a request may wait for the answer to a question. */
  readonly lane: 'requests' | 'others'
}

export interface HttpServer {
  /** Rejects with an `HttpFailure`. */
  readonly send: (request: HttpRequest) => Promise<IncomingMessage>
}

/** Together below the limit of the proxy, so that no message waits there. */
const MOST = { requests: MOST_REQUESTS_OF_CALL * 0.75, others: MOST_REQUESTS_OF_CALL * 0.125 }

/** Servers close idle connections after five seconds or more. A request must not meet that. */
const IDLE_MS = 4_000

export const createHttpServer = (url: URL): HttpServer => {
  const isSecure = url.protocol === 'https:'
  // Only TLS makes a new connection expensive.
  const agentOf = (maxSockets: number) =>
    isSecure ? new HttpsAgent({ keepAlive: true, timeout: IDLE_MS, maxSockets }) : new HttpAgent({ maxSockets })
  const agents = { requests: agentOf(MOST.requests), others: agentOf(MOST.others) }
  const request = isSecure ? requestHttps : requestHttp
  return {
    send: ({ method, headers, body, signal, lane }) =>
      new Promise((resolve, reject) => {
        const options: RequestOptions = {
          method,
          signal,
          agent: agents[lane],
          headers: {
            ...headers,
            'accept-encoding': 'identity',
            ...(body === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          },
        }
        const sent = request(url, options, resolve)
        sent.on('error', (error: NodeJS.ErrnoException) => {
          reject(new HttpFailure(`${url.host} cannot be reached: ${error.code ?? error.message}`))
        })
        sent.end(body)
      }),
  }
}

/** The whole body as a text. */
export const bodyOf = async (response: IncomingMessage, longest: number): Promise<string> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > longest) {
      response.destroy()
      throw new HttpFailure(`the server sent an answer of more than ${longest} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
