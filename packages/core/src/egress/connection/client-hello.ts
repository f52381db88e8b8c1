// Reads the first message of a TLS client (RFC 8446, 4.1.2), as far as it names the server.

export interface ClientHello {
  /** As sent. Undefined if the client names no server. */
  readonly serverName: string | undefined
  readonly protocols: readonly string[]
}

export type HelloReading =
  | { readonly kind: 'hello'; readonly hello: ClientHello }
  /** At least. */
  | { readonly kind: 'incomplete'; readonly missing: number }
  | { readonly kind: 'malformed' }

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const SERVER_NAME = 0
const PROTOCOLS = 16
const MAX_RECORD = 16_384 + 256
export const MAX_HELLO_BYTES = 65_536

/** The first byte of anything that is TLS. */
export const looksLikeTls = (bytes: Buffer): boolean => bytes[0] === HANDSHAKE && (bytes.length < 2 || bytes[1] === 3)

export const readClientHello = (bytes: Buffer): HelloReading => {
  const handshake = joinRecords(bytes)
  if (handshake === undefined) return { kind: 'malformed' }
  if (handshake.length < 4) return { kind: 'incomplete', missing: 4 - handshake.length }
  if (handshake[0] !== CLIENT_HELLO) return { kind: 'malformed' }
  const length = handshake.readUIntBE(1, 3)
  if (length > MAX_HELLO_BYTES) return { kind: 'malformed' }
  if (handshake.length < 4 + length) return { kind: 'incomplete', missing: 4 + length - handshake.length }
  const hello = parseHello(handshake.subarray(4, 4 + length))
  return hello === undefined ? { kind: 'malformed' } : { kind: 'hello', hello }
}

/** A message may be spread over many records. */
const joinRecords = (bytes: Buffer): Buffer | undefined => {
  const parts: Buffer[] = []
  for (let at = 0; at + 5 <= bytes.length;) {
    const length = bytes.readUInt16BE(at + 3)
    if (bytes[at] !== HANDSHAKE || bytes[at + 1] !== 3 || length === 0 || length > MAX_RECORD)
      return parts.length > 0 ? Buffer.concat(parts) : undefined
    parts.push(bytes.subarray(at + 5, at + 5 + length))
    at += 5 + length
  }
  return Buffer.concat(parts)
}

const parseHello = (body: Buffer): ClientHello | undefined => {
  const fields = walk(body)
  fields.skip(34)
  fields.vector(1)
  fields.vector(2)
  fields.vector(1)
  const extensions = walk(fields.vector(2))
  const seen = new Set<number>()
  let serverName: string | undefined
  let protocols: readonly string[] = []
  while (extensions.hasMore()) {
    const type = extensions.number(2)
    const content = extensions.vector(2)
    if (seen.has(type)) return undefined
    seen.add(type)
    if (type === SERVER_NAME) {
      const names = walk(walk(content).vector(2))
      const kind = names.number(1)
      const name = names.vector(2)
      // The server could read several names, or one of another kind, differently.
      if (kind !== 0 || names.hasMore() || names.isBroken() || name.length === 0) return undefined
      serverName = name.toString('latin1')
    }
    if (type === PROTOCOLS) {
      const list = walk(walk(content).vector(2))
      const found: string[] = []
      while (list.hasMore()) found.push(list.vector(1).toString('latin1'))
      protocols = found
    }
  }
  return fields.isBroken() || extensions.isBroken() ? undefined : { serverName, protocols }
}

const walk = (bytes: Buffer) => {
  let at = 0
  let isBroken = false
  const take = (count: number): Buffer => {
    if (at + count > bytes.length) {
      isBroken = true
      at = bytes.length
      return Buffer.alloc(count > 2 ? 0 : count)
    }
    at += count
    return bytes.subarray(at - count, at)
  }
  const number = (size: 1 | 2): number => take(size).readUIntBE(0, size)
  return {
    number,
    /** Bytes that follow their length. */
    vector: (sizeOfLength: 1 | 2): Buffer => take(number(sizeOfLength)),
    skip: (count: number): void => {
      take(count)
    },
    hasMore: (): boolean => at < bytes.length,
    isBroken: (): boolean => isBroken,
  }
}
