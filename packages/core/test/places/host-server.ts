import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterAll } from 'vitest'

export interface HostServer {
  readonly port: number
  readonly connections: () => number
}

/** A service on the loopback of the host that says a word to whoever reaches it. */
export const startHostServer = async (): Promise<HostServer> => {
  let connections = 0
  const server = createServer((_request, response) => {
    response.end('word of the host\n')
  })
  server.on('connection', () => (connections += 1))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}
