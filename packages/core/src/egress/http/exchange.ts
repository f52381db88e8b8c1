import type { Duplex } from 'node:stream'

import type { Body } from './body.js'
import type { HeaderList } from './header-list.js'

export type Scheme = 'http' | 'https'
export type Protocol = 'http/1.0' | 'http/1.1' | 'h2'

export interface ExchangeRequest {
  readonly protocol: Protocol
  readonly scheme: Scheme
  readonly method: string
  /** A path with its query, or `*`. */
  readonly target: string
  /** All hosts that the request names: in its URL, `Host` and `:authority`. */
  readonly authorities: readonly string[]
  /** End-to-end headers, without `Host` and `Content-Length`, which are written anew. */
  readonly headers: HeaderList
  readonly body: Body | undefined
  readonly wantsWebSocket: boolean
}

export interface ExchangeResponse {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Body | undefined
}

export interface Reply {
  readonly inform: (status: number, headers: HeaderList) => void
  readonly send: (response: ExchangeResponse) => Promise<void>
  /** Answers 101. The connection then carries another protocol. */
  readonly switchProtocols: (headers: HeaderList) => Duplex
  /** Ends the exchange so that the tool cannot take it for a whole answer. */
  readonly abort: () => void
  readonly hasBegun: () => boolean
  /** Aborted when the tool is gone. */
  readonly signal: AbortSignal
}

export type Handler = (request: ExchangeRequest, reply: Reply) => Promise<void>
