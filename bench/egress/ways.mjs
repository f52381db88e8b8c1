// The ways to one server: straight, by the connection that a broker brings, and by CONNECT as programs do it that know
// a proxy.
import { get } from 'node:https'
import { connect } from 'node:net'
import { connect as secure } from 'node:tls'

/**
 * @typedef {object} Way
 * @property {string} name
 * @property {number} port on this machine
 * @property {string} certificate what the client trusts
 * @property {string} host as the request names it
 * @property {string} [target] of CONNECT, where the way begins with it
 * @property {string} [authorization] for the proxy
 */

/** @param {Way} way @returns {Promise<import('node:net').Socket | undefined>} */
const tunnel = ({ port, target, authorization }) =>
  new Promise((resolve, reject) => {
    if (target === undefined) {
      resolve(undefined)
      return
    }
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `CONNECT ${target} HTTP/1.1\r\nHost: ` +
          `${target}\r\n${authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n`}\r\n`,
      )
    })
    socket.once('data', (answer) => {
      if (/^HTTP\/1\.[01] 200/.test(answer.toString('latin1'))) resolve(socket)
      else reject(new Error(`CONNECT was answered by ${answer.toString('latin1').split('\r\n')[0]}`))
    })
    socket.once('error', reject)
  })

/** @param {Way} way */
export const open = async (way) => {
  const socket = await tunnel(way)
  const where = socket === undefined ? { host: '127.0.0.1', port: way.port } : { socket }
  return secure({ ...where, servername: 'api.test', ca: way.certificate, ALPNProtocols: ['http/1.1'] })
}

/**
 * One GET on a new connection.
 * @param {Way} way
 * @param {string} path
 * @param {(chunk: Buffer) => void} onData
 * @returns {Promise<void>}
 */
export const fetchOnce = async (way, path, onData) => {
  const connection = await open(way)
  await new Promise((resolve, reject) => {
    get({ host: 'api.test', path, createConnection: () => connection, headers: { host: way.host } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`the answer was ${response.statusCode}`))
      response.on('data', onData)
      response.on('end', resolve)
      response.on('error', reject)
    }).on('error', reject)
  })
  connection.destroy()
}

/**
 * Connections held at the same time, each answered.
 * @param {Way} way
 * @param {number} count
 * @returns {Promise<number>}
 */
export const holdMany = async (way, count) => {
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = await open(way)
      await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
      return socket
    }),
  )
  const answers = await Promise.all(
    sockets.map(
      (socket) =>
        new Promise((resolve) => {
          socket.once('data', (/** @type {Buffer} */ chunk) => resolve(chunk.toString().startsWith('HTTP/1.1 200')))
          socket.once('close', () => resolve(false))
          socket.write(`GET / HTTP/1.1\r\nHost: ${way.host}\r\n\r\n`)
        }),
    ),
  )
  for (const socket of sockets) socket.destroy()
  return answers.filter(Boolean).length
}
