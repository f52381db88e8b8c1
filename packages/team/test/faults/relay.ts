// A relay to the server that can be cut: it refuses nothing and reports nothing, the bytes just stop.
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface Relay {
  readonly port: number
  readonly cut: () => void
  readonly join: () => void
  readonly close: () => void
}

export const openRelay = async (socket: string): Promise<Relay> => {
  const pairs = new Set<readonly [Socket, Socket]>()
  let isCut = false
  const link = ([near, far]: readonly [Socket, Socket]): void => {
    near.pipe(far)
    far.pipe(near)
  }
  const server = createServer((near) => {
    const pair = [near, connect(socket)] as const
    pairs.add(pair)
    for (const each of pair)
      each
        .on('error', () => undefined)
        .on('close', () => {
          pairs.delete(pair)
          for (const other of pair) other.destroy()
        })
    if (!isCut) link(pair)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true
      for (const pair of pairs) for (const each of pair) each.unpipe().pause()
    },
    join: () => {
      isCut = false
      for (const pair of pairs) link(pair)
    },
    close: () => {
      server.close()
      for (const pair of pairs) for (const each of pair) each.destroy()
    },
  }
}
