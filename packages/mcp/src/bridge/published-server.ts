// The server that publishes a port to the bridge. Both are in the same cell, so nobody else reaches the port.
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

export interface PublishedServer {
  /** The address at which something accepts connections. Undefined if nothing does for a long time. */
  readonly address: Promise<URL | undefined>
  /** How it ended. */
  readonly ended: Promise<Ending>
  readonly end: () => void
}

export type Ending =
  | { readonly kind: 'exited'; readonly status: number }
  | { readonly kind: 'killed'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'not-started'; readonly problem: string }

const LONGEST_START = 30_000
const BETWEEN_TRIES = 50

/** Its stdout is no protocol, so both its streams go to stderr. */
export const startPublishedServer = ([program = '', ...words]: readonly string[], url: URL): PublishedServer => {
  const child = spawn(program, words, { stdio: ['ignore', 2, 2] })
  const ended = new Promise<Ending>((resolve) => {
    child.on('error', (error) => {
      resolve({ kind: 'not-started', problem: error.message })
    })
    child.on('exit', (status, signal) => {
      resolve(signal === null ? { kind: 'exited', status: status ?? 1 } : { kind: 'killed', signal })
    })
  })
  return {
    address: untilListening(url),
    ended,
    end: () => {
      child.kill('SIGTERM')
    },
  }
}

/** To some servers, localhost means the loopback of IPv6 alone. */
const untilListening = async (url: URL): Promise<URL | undefined> => {
  const other = new URL(url)
  other.hostname = '[::1]'
  for (const deadline = Date.now() + LONGEST_START; Date.now() < deadline;) {
    for (const address of [url, other]) if (await accepts(address)) return address
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES))
  }
  return undefined
}

const accepts = ({ hostname, port }: URL): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(port === '' ? 80 : port), hostname.replaceAll(/[[\]]/g, ''))
    const settle = (is: boolean): void => {
      socket.destroy()
      resolve(is)
    }
    socket
      .on('connect', () => {
        settle(!isConnectedToItself(socket))
      })
      .on('error', () => {
        settle(false)
      })
  })

/** The kernel may give a connection the very port that it asks for. Where nobody listens it then answers itself. */
export const isConnectedToItself = ({ localPort, remotePort }: Pick<Socket, 'localPort' | 'remotePort'>): boolean =>
  localPort === remotePort
