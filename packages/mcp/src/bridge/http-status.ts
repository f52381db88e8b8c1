// What a response says that is not an answer.
import type { IncomingMessage } from 'node:http'

import { bodyOf } from './http-exchange.js'
import { HttpFailure } from './http-failure.js'

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
