// The server of the hostile run, with TLS, in a process of its own. It answers by hand, because a library
// would not send what a hostile server sends.
import { createServer } from 'node:tls'

import { createTlsAuthority } from 'cordon/egress'
import { parseRequestHost } from 'cordon/policy'
import { BLANKS, HOST } from './scene.mjs'

const authority = createTlsAuthority()
const host = parseRequestHost(HOST)
if (host === undefined) throw new Error(`${HOST} is not a host name`)
const chunk = Buffer.alloc(65_536, 'x')

/** @param {import('node:tls').TLSSocket} socket */
const sendEndlessly = (socket) => {
  const go = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', go)
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n')
  go()
}

/** @param {import('node:tls').TLSSocket} socket @param {string} target */
const answer = (socket, target) => {
  if (target === '/endless') sendEndlessly(socket)
  else if (target === '/blanks')
    socket.end(`HTTP/1.1 200 OK\r\nx-blank: a${' '.repeat(BLANKS)}b\r\ncontent-length: 0\r\n\r\n`)
  else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
}

const server = createServer({ SNICallback: (_, reply) => reply(null, authority.contextFor(host)) }, (socket) => {
  let read = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes) => {
    read += bytes.toString('latin1')
    for (let end = read.indexOf('\r\n\r\n'); end !== -1; end = read.indexOf('\r\n\r\n')) {
      answer(socket, read.split(' ', 2)[1] ?? '/')
      read = read.slice(end + 4)
    }
  })
})
server.on('tlsClientError', (_, socket) => socket.destroy())
server.listen(0, '127.0.0.1', 4096, () => {
  process.send?.({
    port: /** @type {import('node:net').AddressInfo} */ (server.address()).port,
    certificate: authority.certificate,
  })
})
