import type { Duplex } from 'node:stream'

import type { Body } from './body.js'
import type { HeaderList } from './header-list.js'

export type Scheme = 'http' | 'https'
export type Protocol = 'http/1.0' | 'http/1.1' | 'h2'

/** One request of a tool, whatever the version of HTTP. */
export interface ExchangeRequest {
  readonly protocol: Protocol
  readonly scheme: Scheme
  readonly method: string
  /** A path with its query, or `*`. */
  readonly target: string
  /** Every host that the request names: its URL, `Host`, `:authority`. */
  readonly authorities: readonly string[]
  /** Only what is meant for the server; without `Host` and `Content-Length`, which are made anew. */
  readonly headers: HeaderList
  readonly body: Body | undefined
  readonly wantsWebSocket: boolean
}

export interface ExchangeResponse {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Body | undefined
}

/** The way back to the tool. */
export interface Reply {
  readonly inform: (status: number, headers: HeaderList) => void
  readonly send: (response: ExchangeResponse) => Promise<void>
  /** Answers 101; from then on the connection carries something else. */
  readonly switchProtocols: (headers: HeaderList) => Duplex
  /** Ends the exchange in a way that the tool cannot take for a whole answer. */
  readonly abort: () => void
  readonly hasBegun: () => boolean
  /** Aborted when the tool is gone. */
  readonly signal: AbortSignal
}

export type Handler = (request: ExchangeRequest, reply: Reply) => Promise<void>
