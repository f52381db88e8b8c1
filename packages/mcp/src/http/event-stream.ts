// One answer of the HTTP endpoint: a stream of messages, or a single one.
import type { ServerResponse } from 'node:http'

import type { Fields } from '../wire/messages.js'

export interface MessageStream {
  /** Gives a promise if the client is slow, which settles when it has caught up, or is gone. */
  readonly write: (message: Fields) => Promise<void> | undefined
  readonly end: () => void
  readonly isOpen: () => boolean
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Proxies must not collect messages.
  'x-accel-buffering': 'no',
}

export const openMessageStream = (response: ServerResponse, headers: Record<string, string> = {}): MessageStream => {
  response.writeHead(200, { ...STREAM_HEADERS, ...headers })
  response.flushHeaders()
  return {
    write: (message) => {
      if (response.destroyed || response.writableEnded) return undefined
      return response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`) ? undefined : caughtUp(response)
    },
    end: () => {
      response.end()
    },
    isOpen: () => !response.destroyed && !response.writableEnded,
  }
}

const caughtUp = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle).off('close', settle)
      resolve()
    }
    response.on('drain', settle).on('close', settle)
  })

export const sendJson = (response: ServerResponse, status: number, message: Fields): void => {
  if (response.destroyed || response.writableEnded) return
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(message))
}
