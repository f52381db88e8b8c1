// One request over HTTP, and why its response is no answer. Redirects are not followed, and no cookie is kept.
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

/** Why the proxy of Cordon did not reach the server is in the text of its answer. */
const REFUSED_BY_CORDON = 'x-cordon-refused'
const LONGEST_REASON = 2_000

/** For a response that is not an answer. It reads what it needs of the response, and ends it. */
export const failureOf = async (response: IncomingMessage): Promise<HttpFailure> => {
  const isOfCordon = response.headers[REFUSED_BY_CORDON] !== undefined
  const reason = isOfCordon ? await bodyOf(response, LONGEST_REASON).catch(() => '') : ''
  response.destroy()
  return new HttpFailure(reason === '' ? problemIn(response) : reason.trim(), isLoginWanted(response))
}

/** In plain words, for the user. */
const problemIn = ({ statusCode = 0, headers }: IncomingMessage): string => {
  if (statusCode >= 300 && statusCode < 400)
    return `the server answered HTTP ${statusCode}, a redirect, and redirects are not followed`
  if (statusCode === 401 || statusCode === 403) return `the server refused the request (HTTP ${statusCode})`
  if (statusCode === 404 || statusCode === 405)
    return (
      `the server answered HTTP ${statusCode}: nothing speaks streamable HTTP at this path ` +
      '(servers of the older transport HTTP+SSE are not supported)'
    )
  if (statusCode === 200)
    return `the server answered with the content type ${JSON.stringify(headers['content-type'] ?? '').slice(0, 100)}`
  return `the server answered HTTP ${statusCode}`
}

/** Whether a request lacked authentication, or rights that another login may have. */
const isLoginWanted = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 401 || (statusCode === 403 && headers['www-authenticate'] !== undefined)
