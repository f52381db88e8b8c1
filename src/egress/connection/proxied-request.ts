import { renderHost } from '../endpoint.js'
import type { Handler } from '../http/exchange.js'

import type { Connection, Shared } from './context.js'
import { forwarder } from './forward.js'

/**
 * Of a program that asks a proxy for whole URLs: each request is recorded as a connection, because each may be for
 * another host.
 */
export const serveProxiedRequests =
  (connection: Connection, shared: Shared): Handler =>
  async (request, reply) => {
    const { call, endpoint, number } = connection
    const place = {
      call_id: call.rights.callId,
      connection: number,
      host: renderHost(endpoint.host),
      port: endpoint.port,
    }
    const started = shared.now()
    await shared.record({ type: 'egress.opened', ...place, treatment: 'http' })
    try {
      await forwarder(connection, shared)(request, reply)
    } finally {
      await Promise.resolve(
        shared.record({
          type: 'egress.closed',
          ...place,
          bytes_sent: 0,
          bytes_received: 0,
          duration_ms: shared.now() - started,
          problem: null,
        }),
      ).catch(() => undefined)
    }
  }
