// Receives the connections of cells from launchers, and gives each to the network of its call.
import { Duplex } from 'node:stream'

import { bug } from '../../errors/index.js'

export interface CallNetwork {
  /** Takes a connection that the tool asked for by `connect()`. */
  readonly connected: (stream: Duplex, host: string, port: number) => void
  /** Takes a connection to the proxy. The program has to send the call's secret there. */
  readonly proxied: (stream: Duplex) => void
  /** The proxy's password, which is in the variables of the call. */
  readonly proxySecret: string
  /** More variables, such as placeholders of credentials. */
  readonly variables: Readonly<Record<string, string>>
}

/** The connections of one cell. They are accepted from `open` on. */
export interface CellDoor {
  readonly open: (network: CallNetwork | undefined) => void
  readonly close: () => void
}

export interface Doors {
  readonly make: (token: string) => CellDoor
  /** Takes a message of a launcher's channel: a connection of its tool (native/supervisor/streams/channel.c). */
  readonly receive: (message: unknown, handle: unknown) => void
}

/** A tool can open hundreds of connections at once. So many are begun per turn of the event loop. */
const PER_TURN = 8
/** Waiting connections hold descriptors. Beyond this number each new one begins the oldest. */
const MOST_WAITING = 256

interface Known {
  network: CallNetwork | undefined
  readonly streams: Set<Duplex>
  readonly waiting: (() => void)[]
}

/** Begins waiting connections, one of each cell in turn, so that one cell's flood does not delay the others. */
const createTurns = () => {
  const cells = new Set<Known>()
  let isScheduled = false
  const schedule = (): void => {
    if (isScheduled || cells.size === 0) return
    isScheduled = true
    setImmediate(turn)
  }
  const turn = (): void => {
    isScheduled = false
    for (let begun = 0; begun < PER_TURN; begun += 1) {
      const [cell] = cells
      if (cell === undefined) return
      cells.delete(cell)
      cell.waiting.shift()?.()
      if (cell.waiting.length > 0) cells.add(cell)
    }
    schedule()
  }
  return (cell: Known, begin: () => void): void => {
    cell.waiting.push(begin)
    if (cell.waiting.length > MOST_WAITING) cell.waiting.shift()?.()
    cells.add(cell)
    schedule()
  }
}

export const createDoors = (): Doors => {
  const known = new Map<string, Known>()
  const inTurn = createTurns()
  return {
    make: (token) => {
      const own: Known = { network: undefined, streams: new Set(), waiting: [] }
      known.set(token, own)
      return {
        open: (network) => {
          own.network = network ?? bug('a call with granted hosts has no network')
        },
        close: () => {
          known.delete(token)
          own.waiting.length = 0
          for (const stream of own.streams) stream.destroy()
        },
      }
    },
    receive: (message, handle) => {
      if (!(handle instanceof Duplex)) return
      // Passes on an end in one direction. Node sets this only when it makes the socket.
      handle.allowHalfOpen = true
      handle.on('error', () => undefined)
      const { token = '', host, port } = readParcel(message)
      const own = known.get(token)
      const network = own?.network
      if (own === undefined || network === undefined) {
        // The cell was closed in the meantime.
        handle.destroy()
        return
      }
      own.streams.add(handle)
      handle.once('close', () => own.streams.delete(handle))
      inTurn(own, () => {
        if (handle.destroyed) return
        if (host === undefined) network.proxied(handle)
        else network.connected(handle, host, Number(port))
      })
    },
  }
}

const DESTINATION = /^(?:proxy|(?<host>\S{1,253}) (?<port>[1-9]\d{0,4}))$/

/** The token of a connection's call, and its destination: a host, or the proxy itself. Empty if it is malformed. */
const readParcel = (message: unknown): { readonly token?: string; readonly host?: string; readonly port?: string } => {
  const { cordon: token, to } = (typeof message === 'object' && message !== null ? message : {}) as {
    readonly cordon?: unknown
    readonly to?: unknown
  }
  const destination = typeof to === 'string' ? DESTINATION.exec(to) : null
  return typeof token !== 'string' || destination === null ? {} : { token, ...destination.groups }
}
