// What a response says that is not an answer.
import type { IncomingMessage } from 'node:http'

/** In plain words, for the user. */
export const problemIn = ({ statusCode = 0, headers }: IncomingMessage): string => {
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

/** Of a request that lacks authentication, or rights. Empty if the server does not say how to get them. */
export const challengeIn = ({ statusCode, headers }: IncomingMessage): string | undefined => {
  const said = headers['www-authenticate']
  return statusCode === 401 ? (said ?? '') : statusCode === 403 ? said : undefined
}
