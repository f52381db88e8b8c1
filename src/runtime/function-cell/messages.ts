// Messages between the runtime and the Node process in which a function tool runs, over its stdin and
// stdout: a byte of kind, four of length (little endian), JSON. Nothing of a call travels in argv.

/** `load`: which function; `call`: its input. */
export type MessageToCell =
  | { readonly kind: 'load'; readonly from: FunctionOrigin }
  | { readonly kind: 'call'; readonly input: unknown }

export type FunctionOrigin =
  | { readonly kind: 'module'; readonly url: string; readonly name: string }
  | { readonly kind: 'source'; readonly source: string }

export type MessageFromCell =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'progress'; readonly value: unknown }
  /** What the tool printed. */
  | { readonly kind: 'text'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'thrown'; readonly error: ThrownError }

export interface ThrownError {
  readonly name: string
  readonly message: string
  readonly stack: string
  /** Of errors of the system: `EACCES`, and what was tried on which path. */
  readonly code?: string
  readonly syscall?: string
  readonly path?: string
}

const HEADER = 5

const LETTERS = { load: 'L', call: 'C', loaded: 'R', progress: 'P', text: 'T', value: 'V', thrown: 'X' } as const

export const encodeMessage = ({ kind, ...content }: MessageToCell | MessageFromCell): Buffer => frame(kind, JSON.stringify(content))

/** A value that is JSON already: what is large is written once. */
export const encodeWritten = (kind: 'progress' | 'value', json: string): Buffer => frame(kind, `{"value":${json}}`)

const frame = (kind: keyof typeof LETTERS, text: string): Buffer => {
  const length = Buffer.byteLength(text)
  const message = Buffer.allocUnsafe(HEADER + length)
  message.write(LETTERS[kind], 0, 'latin1')
  message.writeUInt32LE(length, 1)
  message.write(text, HEADER)
  return message
}

/** Cuts a stream into messages. Throws at a message that is none, or is longer than `largest`. */
export const createMessageReader = <Message extends MessageToCell | MessageFromCell>(
  kinds: readonly Message['kind'][],
  largest: number,
  onMessage: (message: Message) => void,
): ((bytes: Buffer) => void) => {
  const kindOf = new Map(kinds.map((kind) => [LETTERS[kind].charCodeAt(0), kind]))
  let chunks: Buffer[] = []
  let length = 0
  let wanted = HEADER
  return (bytes) => {
    chunks.push(bytes)
    length += bytes.length
    while (length >= wanted) {
      const all = chunks.length === 1 ? (chunks[0] ?? bytes) : Buffer.concat(chunks, length)
      const kind = kindOf.get(all[0] ?? 0)
      const end = HEADER + all.readUInt32LE(1)
      if (kind === undefined) throw new Error('it wrote something else than messages to its standard output')
      if (end > largest) throw new Error(`a message of ${String(end)} bytes is larger than ${String(largest)}`)
      wanted = end
      chunks = [all]
      if (length < end) break
      const rest = all.subarray(end)
      chunks = rest.length === 0 ? [] : [rest]
      length = rest.length
      wanted = HEADER
      onMessage({ kind, ...(JSON.parse(all.toString('utf8', HEADER, end)) as object) } as Message)
    }
  }
}
