// Raw bytes, as an attacker would write them.
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Duplex } from 'node:stream'

import type { Stage } from './stage.js'

const LONGEST_SILENCE_MS = 10_000

/** Everything that comes back until the other side ends, or says nothing for a while. */
export const heard = (stream: Duplex, quiet = 1_500): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    const settle = (): void => {
      clearTimeout(timer)
      stream.destroy()
      resolve(text)
    }
    // The first byte may be long in coming where the machine is busy.
    let timer = setTimeout(settle, LONGEST_SILENCE_MS)
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      clearTimeout(timer)
      timer = setTimeout(settle, quiet)
    })
    stream.on('end', settle).on('close', settle).on('error', settle)
  })

export const say = async (port: number, bytes: string | Buffer, quiet?: number): Promise<string> => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write(bytes, 'latin1')
  return heard(socket, quiet)
}

export interface TlsWords {
  readonly host: string
  readonly port: number
  readonly serverName?: string
  readonly protocols?: readonly string[]
}

/** TLS to a port that the broker would have brought, trusting the runtime's authority alone. */
export const openTls = async (
  stage: Stage,
  { host, port, serverName = host, protocols = ['http/1.1'] }: TlsWords,
): Promise<Duplex> => {
  const there = await stage.portTo(host, port)
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      port: there,
      host: '127.0.0.1',
      servername: serverName,
      ALPNProtocols: [...protocols],
      ca: stage.egress.authorityCertificate,
      checkServerIdentity: () => undefined,
    })
    socket.once('secureConnect', () => {
      resolve(socket)
    })
    socket.once('error', reject)
    socket.once('close', () => {
      reject(new Error('closed'))
    })
  })
}

export const sayTls = async (
  stage: Stage,
  words: TlsWords,
  bytes: string | Buffer,
  quiet?: number,
): Promise<string> => {
  const socket = await openTls(stage, words)
  socket.write(bytes, 'latin1')
  return heard(socket, quiet)
}
