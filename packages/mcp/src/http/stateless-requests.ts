// Requests of revision 2026-07-28 over HTTP. All clients share one gateway, so ids and progress tokens are ours. The
// response is one message, or a stream if something comes before the answer. Who closes it cancels the request.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'

import { messageOf } from 'cordon/errors'

import { withoutClientError } from '../stateless/stateless-answers.js'
import { METHODS, progressTokenOf, withProgressToken } from '../wire/era-2025.js'
import { STATELESS_ERRORS, clientOf, ofSubscription, subscriptionOf } from '../wire/era-2026.js'
import { RPC_ERRORS, errorOf, fieldsOf, notificationOf, paramsOf } from '../wire/messages.js'
import type { Fields, MessageId, RequestMessage } from '../wire/messages.js'
import type { Connection, OpenConnection } from './session.js'
import { openMessageStream, sendJson } from './event-stream.js'
import type { MessageStream } from './event-stream.js'
import { createParamHeaders, mismatchOf } from './mirrored-headers.js'

export interface StatelessRequests {
  readonly ask: (request: RequestMessage, headers: IncomingHttpHeaders, response: ServerResponse) => void
  readonly close: () => Promise<void>
}

interface Asker {
  readonly id: MessageId
  readonly method: string
  readonly token: unknown
  readonly wantsLog: boolean
  readonly response: ServerResponse
  stream: MessageStream | undefined
}

/** Beyond this a client counts as one that does not read. */
const MOST_UNREAD = 64 * 1024 * 1024

export const openStatelessRequests = (open: OpenConnection): StatelessRequests => {
  const askers = new Map<unknown, Asker>()
  let connection: Promise<Connection> | undefined
  const paramHeaders = createParamHeaders()
  let lastId = 0

  /** Nobody waits for a slow client, because others share its servers. One that does not read at all is cut off. */
  const write = (asker: Asker, message: Fields): void => {
    asker.stream ??= openMessageStream(asker.response)
    void asker.stream.write(message)
    if (asker.response.writableLength > MOST_UNREAD) asker.response.destroy()
  }
  const answer = (own: unknown, asker: Asker, message: Fields): void => {
    askers.delete(own)
    if (asker.method === METHODS.listTools) paramHeaders.learn(fieldsOf(message['result']))
    const answered = { ...message, id: asker.id }
    if (asker.stream === undefined) {
      sendJson(asker.response, statusOf(message), answered)
      return
    }
    write(asker, answered)
    asker.stream.end()
  }
  const send = (message: Fields): undefined => {
    const { id, method } = message
    const params = paramsOf({ fields: message })
    const listener = askers.get(subscriptionOf(params))
    const asker = askers.get(params['progressToken'])
    if (method === undefined) {
      const found = askers.get(id)
      if (found !== undefined) answer(id, found, message)
    } else if (listener !== undefined) write(listener, { ...message, params: ofSubscription(params, listener.id) })
    else if (method === METHODS.progress && asker !== undefined)
      write(asker, { ...message, params: { ...params, progressToken: asker.token } })
    else if (method === METHODS.logMessage) {
      // A server does not say to which request a line of its log belongs.
      const reader = [...askers.values()].findLast(({ wantsLog }) => wantsLog)
      if (reader !== undefined) write(reader, message)
    }
    return undefined
  }
  return {
    ask: (request, headers, response) => {
      const withoutClient = withoutClientError(request.id, clientOf(paramsOf(request)))
      if (withoutClient !== undefined) {
        sendJson(response, 400, withoutClient)
        return
      }
      const problem = mismatchOf(request, headers, paramHeaders)
      if (problem !== undefined) {
        sendJson(response, 400, errorOf(request.id, STATELESS_ERRORS.headerMismatch, `Header mismatch: ${problem}`))
        return
      }
      lastId += 1
      const own = `http-${lastId}`
      const params = paramsOf(request)
      const token = progressTokenOf(params)
      const wantsLog = clientOf(params).logLevel !== undefined
      askers.set(own, { id: request.id, method: request.method, token, wantsLog, response, stream: undefined })
      connection ??= open(send)
      const take = (message: Fields): void => {
        connection?.then(
          (opened) => {
            opened.take(JSON.stringify(message))
          },
          (error: unknown) => {
            connection = undefined
            askers.delete(own)
            sendJson(response, 500, errorOf(request.id, RPC_ERRORS.refused, messageOf(error)))
          },
        )
      }
      response.on('close', () => {
        if (askers.delete(own)) take(notificationOf(METHODS.cancelled, { requestId: own }))
      })
      const tracked = token === undefined ? params : withProgressToken(params, own)
      take({ ...request.fields, id: own, params: tracked })
    },
    close: async () => {
      for (const { response } of askers.values()) response.end()
      await (await connection?.catch(() => undefined))?.close()
    },
  }
}

const statusOf = (message: Fields): number => {
  const code = fieldsOf(message['error'])['code']
  if (code === RPC_ERRORS.unknownMethod) return 404
  const isBad = code === STATELESS_ERRORS.unsupportedVersion || code === STATELESS_ERRORS.missingCapability
  return isBad ? 400 : 200
}
