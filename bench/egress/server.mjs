// A server with TLS for the bench of the proxy, in a process of its own.
import { createServer } from 'node:https'

import { createTlsAuthority } from 'cordon/egress'
import { parseRequestHost } from 'cordon/policy'

const authority = createTlsAuthority()
const host = parseRequestHost('api.test')
if (host === undefined) throw new Error('no host')
const chunk = Buffer.alloc(65_536, 'x')

const server = createServer(
  { SNICallback: (_, answer) => answer(null, authority.contextFor(host)), keepAlive: true },
  (request, response) => {
    const size = Number(request.url?.slice(1))
    if (!(size > 0)) {
      response.end('ok')
      return
    }
    response.writeHead(200, { 'content-length': size })
    let left = size
    const go = () => {
      while (left > 0) {
        const piece = left < chunk.length ? chunk.subarray(0, left) : chunk
        left -= piece.length
        if (!response.write(piece)) {
          response.once('drain', go)
          return
        }
      }
      response.end()
    }
    go()
  },
)
server.listen(0, '127.0.0.1', 4096, () =>
  process.send?.({
    port: /** @type {import('node:net').AddressInfo} */ (server.address()).port,
    certificate: authority.certificate,
  }),
)
