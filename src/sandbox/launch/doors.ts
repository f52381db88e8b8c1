// Where the connections of cells arrive, and to whom they are given.
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import type { Brokered } from '../plan/plan.js'

/** The network of one call: it takes the connections. The sandbox does not know what happens to them. */
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
  readonly open: (network: CallNetwork) => void
  /** Breaks what is left. */
  readonly close: () => void
}

export interface Doors {
  readonly make: (terms: Pick<Brokered, 'token'>) => Door
  /** What launchers send on their channel: the connections of their tools (native/supervisor/streams/channel.c). */
  readonly receive: (message: unknown, handle: unknown) => void
}

/** The proxy address in the tool's variables. Nobody listens there: the keeper answers connect() to it. */
export const PROXY_PORT = 3128

/**
 * A tool can bring hundreds of connections at once, and each costs the host some work: so many are begun in one turn.
 */
const PER_TURN = 8
/** With so many waiting, the oldest is begun for each that comes: what waits holds descriptors of the host. */
const MOST_WAITING = 256

interface Known {
  network: CallNetwork | undefined
  readonly streams: Set<Socket>
  /** What has arrived and is not begun. */
  readonly waiting: (() => void)[]
}

/** Begins what waits, one of each cell in turn, so that one cell's flood does not delay the connections of others. */
const createTurns = () => {
  const cells = new Set<Known>()
  let isPlanned = false
  const plan = (): void => {
    if (isPlanned || cells.size === 0) return
    isPlanned = true
    setImmediate(turn)
  }
  const turn = (): void => {
    isPlanned = false
    for (let begun = 0; begun < PER_TURN; begun += 1) {
      const [cell] = cells
      if (cell === undefined) return
      cells.delete(cell)
      cell.waiting.shift()?.()
      if (cell.waiting.length > 0) cells.add(cell)
    }
    plan()
  }
  return (cell: Known, begin: () => void): void => {
    cell.waiting.push(begin)
    if (cell.waiting.length > MOST_WAITING) cell.waiting.shift()?.()
    cells.add(cell)
    plan()
  }
}

export const createDoors = (): Doors => {
  const known = new Map<string, Known>()
  const inTurn = createTurns()
  return {
    make: ({ token }) => {
      const own: Known = { network: undefined, streams: new Set(), waiting: [] }
      known.set(token, own)
      return {
        open: (network) => {
          own.network = network
        },
        close: () => {
          known.delete(token)
          own.waiting.length = 0
          for (const stream of own.streams) stream.destroy()
        },
      }
    },
    receive: (message, handle) => {
      if (!(handle instanceof Socket)) return
      // How an end in one direction is told from one in both; Node has made it without.
      handle.allowHalfOpen = true
      handle.on('error', () => undefined)
      const parcel = readParcel(message)
      const own = parcel === undefined ? undefined : known.get(parcel.token)
      if (parcel === undefined || own?.network === undefined) {
        // Of a cell that was given up meanwhile.
        handle.destroy()
        return
      }
      own.streams.add(handle)
      handle.once('close', () => own.streams.delete(handle))
      const { network } = own
      const { to } = parcel
      inTurn(own, () => {
        if (handle.destroyed) return
        if (to === 'proxy') network.proxied(handle)
        else network.connected(handle, to.host, to.port)
      })
    },
  }
}

/** Whose a connection is and whom the tool meant by it; `proxy`: the proxy itself, which a program was told of. */
interface Parcel {
  readonly token: string
  readonly to: 'proxy' | { readonly host: string; readonly port: number }
}

const WHOM = /^(?:proxy|(?<host>\S{1,253}) (?<port>[1-9]\d{0,4}))$/

const readParcel = (message: unknown): Parcel | undefined => {
  const { cordon: token, to } = (typeof message === 'object' && message !== null ? message : {}) as {
    readonly cordon?: unknown
    readonly to?: unknown
  }
  const whom = typeof to === 'string' ? WHOM.exec(to) : null
  if (typeof token !== 'string' || whom === null) return undefined
  const { host, port } = whom.groups ?? {}
  return { token, to: host === undefined ? 'proxy' : { host, port: Number(port) } }
}
