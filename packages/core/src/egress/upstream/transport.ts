import type { Duplex } from 'node:stream'

import type { Body } from '../http/body.js'
import type { ExchangeResponse } from '../http/exchange.js'
import type { HeaderList } from '../http/header-list.js'

export interface OutgoingRequest {
  readonly method: string
  readonly authority: string
  readonly target: string
  readonly headers: HeaderList
  readonly body: Body | undefined
  readonly inform: (status: number, headers: HeaderList) => void
  readonly signal: AbortSignal
}

export interface IncomingResponse extends ExchangeResponse {
  /** After 101: the connection, which carries another protocol. */
  readonly switched: Duplex | undefined
}

export interface Transport {
  readonly protocol: 'http/1.1' | 'h2'
  /** Whether one more request can begin now. */
  readonly isFree: () => boolean
  /** Whether nothing is under way on it. */
  readonly isIdle: () => boolean
  readonly send: (request: OutgoingRequest) => Promise<IncomingResponse>
  readonly close: () => void
}
