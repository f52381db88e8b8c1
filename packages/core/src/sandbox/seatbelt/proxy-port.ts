// The proxy's port of one call. Seatbelt can name a port of the loopback, but not which of its addresses. So this
// process has the port on both, and nobody else can wait there for the tool.
import { createServer } from 'node:net'
import type { ListenOptions, Server, Socket } from 'node:net'

import { codeOf } from '../../errors/index.js'
import type { CallNetwork } from '../launch/doors.js'

interface ProxyPort {
  readonly port: number
  readonly close: () => void
}

const MOST_TRIES = 16

export const openProxyPort = async (network: CallNetwork): Promise<ProxyPort> => {
  const streams = new Set<Socket>()
  const serve = () =>
    createServer({ allowHalfOpen: true }, (stream) => {
      streams.add(stream)
      stream.once('close', () => streams.delete(stream)).on('error', () => undefined)
      // Another user can connect too. The proxy asks for the secret of the call.
      network.proxied(stream)
    })
  for (let tries = 1; ; tries += 1) {
    const [four, six] = [serve(), serve()]
    try {
      const port = await listen(four, { port: 0, host: '127.0.0.1', exclusive: true })
      await listen(six, { port, host: '::1', exclusive: true }).catch((error: unknown) => {
        if (codeOf(error) !== 'EADDRNOTAVAIL' && codeOf(error) !== 'EAFNOSUPPORT') throw error
      })
      const close = (): void => {
        four.close()
        six.close()
        for (const stream of streams) stream.destroy()
      }
      return { port, close }
    } catch (error) {
      four.close()
      if (codeOf(error) !== 'EADDRINUSE' || tries === MOST_TRIES) throw error
    }
  }
}

/** Returns the port. 0 for a socket with a path. */
export const listen = (server: Server, where: ListenOptions): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
