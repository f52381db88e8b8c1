import type { Server } from 'node:http'

import { fail } from '../errors/index.js'

import { renderAddress } from './listen-address.js'
import type { ListenAddress } from './listen-address.js'

/** Resolves to the port, which differs from that of the address if that is 0. */
export const listenOnAddress = (server: Server, { host, port }: ListenAddress): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        fail(
          'listen-refused',
          { where: renderAddress({ host, port }), problem: error.message, fix: 'name another address with --listen' },
          error,
        ),
      )
    })
    server.listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
