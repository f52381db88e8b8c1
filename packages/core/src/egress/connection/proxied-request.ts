import { recordIfPossible } from '../record.js'
import type { Handler } from '../http/exchange.js'

import { placeOf } from './context.js'
import type { Connection, Shared } from './context.js'
import { forwarder } from './forward.js'

/**
 * For a program that asks the proxy for whole URLs. Each request is recorded as a connection, because each may be for
 * another host.
 */
export const serveProxiedRequests =
  (connection: Connection, shared: Shared): Handler =>
  async (request, reply) => {
    const place = placeOf(connection)
    const started = shared.now()
    await shared.record({ type: 'egress.opened', ...place, treatment: 'http' })
    try {
      await forwarder(connection, shared)(request, reply)
    } finally {
      await recordIfPossible(shared.record, {
        type: 'egress.closed',
        ...place,
        bytes_sent: 0,
        bytes_received: 0,
        duration_ms: shared.now() - started,
        problem: null,
      })
    }
  }
