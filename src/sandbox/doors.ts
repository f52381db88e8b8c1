// Where the connections of cells arrive, and to whom they are given.
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { fail } from '../errors/index.js'

import { readIntroduction } from './introduction.js'
import type { Brokered, Form } from './plan.js'

/** The network of one call: who takes its connections. The sandbox knows nothing of what becomes of them. */
export interface CallNetwork {
  /** A connection that the tool asked for by `connect()`. */
  readonly connected: (stream: Duplex, host: string, port: number) => void
  /** One of a program that was told of a proxy; it has to say the call's secret there. */
  readonly proxied: (stream: Duplex) => void
  /** The password of the proxy, as the variables of the call have it. */
  readonly proxySecret: string
  /** More variables, such as stand-ins for credentials. */
  readonly variables: Readonly<Record<string, string>>
}

/** The way out of one cell. */
export interface Door {
  /** Settles when connections can arrive. */
  readonly ready: Promise<void>
  readonly open: (network: CallNetwork) => void
  /** Breaks what is left. */
  readonly close: () => void
}

export interface Doors {
  /** Where cells of a form reach the proxy on their loopback. */
  readonly portFor: (form: Form) => Promise<number>
  readonly make: (terms: Brokered, form: Form) => Door
  /** What launchers send on their channel. */
  readonly receive: (message: unknown, handle: unknown) => void
  readonly close: () => void
}

/** In a network namespace of the call's own every port is free. */
const INSIDE_PORT = 3128
const BACKLOG = 4096
const ARRIVAL_MS = 30_000
const SILENCE_MS = 60_000
const MOST_STREAMS = 4096

interface Known {
  network: CallNetwork | undefined
  server: Server | undefined
  readonly streams: Set<Socket>
  /** Its listening socket is there. */
  readonly arrived: () => void
}

export const createDoors = (): Doors => {
  const known = new Map<string, Known>()
  const strangers = new Set<Socket>()
  let shared: Promise<Server> | undefined

  const give = async (stream: Socket, of: Known | undefined): Promise<void> => {
    const held = of?.streams ?? strangers
    // Descriptors are this process's, and it has other things to do than to hold those of one tool. Where the
    // door is everybody's, who says nothing makes room: a keeper speaks at once.
    if (held.size >= MOST_STREAMS) (of === undefined ? [...strangers][0] : stream)?.destroy()
    if (stream.destroyed) return
    const hold = (streams: Set<Socket>) => {
      streams.add(stream)
      stream.once('close', () => streams.delete(stream))
    }
    hold(held)
    stream.on('error', () => undefined)
    stream.setTimeout(SILENCE_MS, () => stream.destroy())
    const introduction = await readIntroduction(stream)
    stream.setTimeout(0)
    const owner = introduction === undefined ? undefined : known.get(introduction.token)
    if (introduction === undefined || owner?.network === undefined || (of !== undefined && of !== owner)) {
      stream.destroy()
      return
    }
    if (of === undefined) {
      strangers.delete(stream)
      if (owner.streams.size >= MOST_STREAMS) {
        stream.destroy()
        return
      }
      hold(owner.streams)
    }
    if (introduction.to === 'proxy') owner.network.proxied(stream)
    else owner.network.connected(stream, introduction.to.host, introduction.to.port)
  }
  const listen = (): Promise<Server> =>
    (shared ??= new Promise((resolve, reject) => {
      const server = createServer({ allowHalfOpen: true }, (stream) => void give(stream, undefined))
      server.once('error', (error) => {
        reject(fail('network-grant-unsupported', { grant: 'hosts', problem: `nobody can listen on the loopback: ${error.message}`, fix: 'grant none or all of the network' }, error))
      })
      server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () => {
        resolve(server.unref())
      })
    }))

  return {
    portFor: async (form) => (form === 'namespaces' ? INSIDE_PORT : ((await listen()).address() as AddressInfo).port),
    make: ({ token }, form) => {
      let arrived: () => void = () => undefined
      const arrival = new Promise<void>((resolve) => (arrived = resolve))
      const own: Known = { network: undefined, server: undefined, streams: new Set(), arrived }
      known.set(token, own)
      const ready = form === 'namespaces' ? withinTime(arrival) : Promise.resolve()
      // A cell that is given up before nobody waits for.
      ready.catch(() => undefined)
      return {
        ready,
        open: (network) => {
          own.network = network
        },
        close: () => {
          known.delete(token)
          own.server?.close()
          for (const stream of own.streams) stream.destroy()
        },
      }
    },
    receive: (message, handle) => {
      const token = tokenIn(message)
      const server = handle as Server | undefined
      const own = token === undefined ? undefined : known.get(token)
      if (own === undefined || own.server !== undefined || server === undefined) {
        // Of a cell that was given up meanwhile.
        server?.close()
        return
      }
      server.unref()
      // Which is how an end in one direction is told from one in both.
      Object.assign(server, { allowHalfOpen: true })
      // Before its door is opened nothing runs in a cell that could connect.
      server.on('connection', (stream) => void give(stream, own))
      own.server = server
      own.arrived()
    },
    close: () => {
      for (const stream of strangers) stream.destroy()
      void shared?.then((server) => server.close(), () => undefined)
    },
  }
}

const tokenIn = (message: unknown): string | undefined => {
  const { cordon } = (typeof message === 'object' && message !== null ? message : {}) as { readonly cordon?: unknown }
  return typeof cordon === 'string' ? cordon : undefined
}

const withinTime = async (arrival: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(fail('setup-failed', { stage: 'broker', errno: 'ETIMEDOUT', detail: 'the launcher gave no listening socket', fix: 'try again; if it stays so, run `cordon doctor` and report it' }))
    }, ARRIVAL_MS)
    timer.unref()
  })
  try {
    await Promise.race([arrival, late])
  } finally {
    clearTimeout(timer)
  }
}
