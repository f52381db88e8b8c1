import type { Duplex } from 'node:stream'

/** Whom the tool meant by a connection, as its keeper says before the tool's first byte (native/broker.c). */
export interface Introduction {
  readonly token: string
  readonly host: string
  readonly port: number
}

const BEGINNING = Buffer.from('CORDON 1 ')
const LINE = /^CORDON 1 (?<token>[0-9a-f]{1,100}) (?<host>\S{1,253}) (?<port>[1-9]\d{0,4})$/
const LONGEST_LINE = 512

/** What a connection begins with; `none` is a program that was told of a proxy. What follows is left in the stream. */
export const readIntroduction = (stream: Duplex): Promise<Introduction | 'none' | 'broken'> =>
  new Promise((resolve) => {
    let held: Buffer = Buffer.alloc(0)
    const settle = (result: Introduction | 'none' | 'broken', rest: Buffer) => {
      stream.off('readable', take).off('end', giveUp).off('close', giveUp).off('error', giveUp)
      if (rest.length > 0) stream.unshift(rest)
      resolve(result)
    }
    const giveUp = () => {
      settle('broken', Buffer.alloc(0))
    }
    const take = () => {
      const chunk = stream.read() as Buffer | null
      if (chunk === null) return
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const compared = Math.min(held.length, BEGINNING.length)
      if (!held.subarray(0, compared).equals(BEGINNING.subarray(0, compared))) {
        settle('none', held)
        return
      }
      const end = held.indexOf(0x0a)
      if (end === -1 && held.length <= LONGEST_LINE) return
      const { token = '', host = '', port } = LINE.exec(held.subarray(0, Math.max(end, 0)).toString('latin1'))?.groups ?? {}
      settle(port === undefined ? 'broken' : { token, host, port: Number(port) }, held.subarray(end + 1))
    }
    stream.on('readable', take).on('end', giveUp).on('close', giveUp).on('error', giveUp)
    take()
  })
