import type { Duplex } from 'node:stream'

/** Whose a connection is and whom the tool meant by it, as its keeper says before the tool's first byte (native/broker.c). */
export interface Introduction {
  readonly token: string
  /** `proxy`: the proxy itself, which a program was told of. */
  readonly to: 'proxy' | { readonly host: string; readonly port: number }
}

const BEGINNING = Buffer.from('CORDON 1 ')
const LINE = /^CORDON 1 (?<token>[0-9a-f]{1,100}) (?:proxy|(?<host>\S{1,253}) (?<port>[1-9]\d{0,4}))$/
const LONGEST_LINE = 512

/** What a connection begins with; undefined where it begins otherwise. What follows is left in the stream. */
export const readIntroduction = (stream: Duplex): Promise<Introduction | undefined> =>
  new Promise((resolve) => {
    let held: Buffer = Buffer.alloc(0)
    const settle = (result: Introduction | undefined, rest?: Buffer) => {
      stream.off('readable', take).off('end', giveUp).off('close', giveUp).off('error', giveUp)
      if (rest !== undefined && rest.length > 0) stream.unshift(rest)
      resolve(result)
    }
    const giveUp = () => {
      settle(undefined)
    }
    const take = () => {
      const chunk = stream.read() as Buffer | null
      if (chunk === null) return
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const compared = Math.min(held.length, BEGINNING.length)
      const end = held.indexOf(0x0a)
      if (!held.subarray(0, compared).equals(BEGINNING.subarray(0, compared))) giveUp()
      else if (end !== -1) settle(parseLine(held.toString('latin1', 0, end)), held.subarray(end + 1))
      else if (held.length > LONGEST_LINE) giveUp()
    }
    stream.on('readable', take).on('end', giveUp).on('close', giveUp).on('error', giveUp)
    take()
  })

const parseLine = (line: string): Introduction | undefined => {
  const { token, host, port } = LINE.exec(line)?.groups ?? {}
  if (token === undefined) return undefined
  return { token, to: host === undefined ? 'proxy' : { host, port: Number(port) } }
}
