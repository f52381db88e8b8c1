// Messages between the runtime and the Node process in which a function tool runs, over its stdin and
// stdout: a byte of kind, four of length (little endian), JSON. Of a result and of progress the JSON is the value
// itself, otherwise a mapping. Nothing of a call travels in argv.

/** `load`: which function; `call`: its input. */
export type MessageToCell =
  { readonly kind: 'load'; readonly from: FunctionOrigin } | { readonly kind: 'call'; readonly input: unknown }

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
}

const HEADER = 5

const LETTERS = { load: 'L', call: 'C', loaded: 'R', progress: 'P', text: 'T', value: 'V', thrown: 'X' } as const

export const encodeMessage = ({
  kind,
  ...content
}: MessageToCell | Exclude<MessageFromCell, { kind: 'progress' | 'value' }>): Buffer =>
  frame(kind, JSON.stringify(content))

/** A value that is JSON already: what is large is written once. */
export const encodeWritten = (kind: 'progress' | 'value', json: string): Buffer => frame(kind, json)

const frame = (kind: keyof typeof LETTERS, text: string): Buffer => {
  const length = Buffer.byteLength(text)
  const message = Buffer.allocUnsafe(HEADER + length)
  message.write(LETTERS[kind], 0, 'latin1')
  message.writeUInt32LE(length, 1)
  message.write(text, HEADER)
  return message
}

export interface MessageSink<Kind> {
  /** The most bytes that the content of a message may have, by its kind. Kinds that are not in here are refused. */
  readonly largest: Readonly<Record<Kind & string, number>>
  readonly onMessage: (kind: Kind, json: Buffer) => void
  /** A message that is too large. It is passed over, and nothing of it is kept. */
  readonly onTooLarge: (kind: Kind, bytes: number) => void
}

/**
 * Cuts a stream into messages. Throws at a message that is none. Of one that is not complete it holds the bytes alone.
 */
export const createMessageReader = <Kind extends keyof typeof LETTERS>({
  largest,
  onMessage,
  onTooLarge,
}: MessageSink<Kind>): ((bytes: Buffer) => void) => {
  const kindOf = new Map((Object.keys(largest) as Kind[]).map((kind) => [LETTERS[kind].charCodeAt(0), kind]))
  const header = Buffer.alloc(HEADER)
  let hasOfHeader = 0
  let kind: Kind | undefined
  /** What is missing of the message; all of it passes by where `content` is undefined. */
  let missing = 0
  let content: Buffer | undefined

  const begin = (): void => {
    kind = kindOf.get(header[0] ?? 0)
    if (kind === undefined) throw new Error('it wrote something else than messages to its standard output')
    missing = header.readUInt32LE(1)
    content = undefined
    if (missing > largest[kind]) onTooLarge(kind, missing)
    else content = Buffer.allocUnsafe(missing)
  }
  return (bytes) => {
    for (let at = 0; at < bytes.length || (kind !== undefined && missing === 0);) {
      if (kind === undefined) {
        const taken = bytes.copy(header, hasOfHeader, at)
        hasOfHeader += taken
        at += taken
        if (hasOfHeader === HEADER) begin()
        continue
      }
      const taken = Math.min(missing, bytes.length - at)
      if (content !== undefined) bytes.copy(content, content.length - missing, at, at + taken)
      at += taken
      missing -= taken
      if (missing > 0) continue
      const ended: Kind = kind
      kind = undefined
      hasOfHeader = 0
      if (content !== undefined) onMessage(ended, content)
    }
  }
}
