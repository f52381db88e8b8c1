// Reaches the network without a grant, as a Node program would. Usage: node network.mjs TCP_PORT UDP_PORT
import dgram from 'node:dgram'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'

const [tcp, udp] = process.argv.slice(2).map(Number)

const route = async (name, attempt) => {
  let outcome = 'refused'
  let detail
  try {
    detail = String((await attempt()) ?? '').slice(0, 120)
    if (detail !== '') outcome = 'escaped'
  } catch (error) {
    detail = String(error.cause?.code ?? error.code ?? error.message ?? error).slice(0, 160)
  }
  fs.writeSync(1, `${JSON.stringify({ route: name, outcome, detail: detail || 'nothing happened' })}\n`)
}

const greeting = (options) =>
  new Promise((resolve, reject) => {
    const socket = net.connect(options)
    socket.once('data', (bytes) => {
      resolve(bytes)
      socket.destroy()
    })
    socket.once('error', reject).once('close', () => resolve(''))
  })

const datagram = (type, address) =>
  new Promise((resolve, reject) => {
    const socket = dgram.createSocket(type)
    socket.once('error', reject)
    socket.send('planted', udp, address, (error, length) => {
      socket.close()
      if (error) reject(error)
      else resolve(length)
    })
  })

// The listener speaks no HTTP; being told so is as good as an answer.
const answered = async (request) => {
  try {
    return await request()
  } catch (error) {
    const code = error.cause?.code ?? error.code ?? ''
    if (String(code).startsWith('HPE_') || code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return code
    throw error
  }
}

const get = () =>
  new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port: tcp, agent: false }, (response) => resolve(response.statusCode))
      .once('error', reject)
  })

await route('net', () => greeting({ host: '127.0.0.1', port: tcp }))
await route('net-localhost', () => greeting({ host: 'localhost', port: tcp }))
await route('net6', () => greeting({ host: '::1', port: tcp }))
await route('http', () => answered(get))
await route('fetch', () => answered(() => fetch(`http://127.0.0.1:${tcp}/`)))
await route('udp', () => datagram('udp4', '127.0.0.1'))
await route('udp6', () => datagram('udp6', '::1'))
