// Messages between the runtime and the Node process of a function tool, over its stdin and stdout: one byte for the
// kind, four for the length (little endian), JSON. The JSON of a result or progress is the value itself, otherwise a
// mapping. The output of a WASI module is bytes instead, so that `limits.output` counts what the module writes.

export type MessageToCell = { readonly kind: 'load'; readonly from: FunctionOrigin } | CallMessage

export interface CallMessage {
  readonly kind: 'call'
  readonly input: unknown
  readonly callId: string
  readonly session: string
}

export type FunctionOrigin =
  | { readonly kind: 'module'; readonly url: string; readonly name: string }
  | { readonly kind: 'source'; readonly source: string }
  | WasmOrigin

export interface WasmOrigin {
  readonly kind: 'wasm'
  /** The module in base64. */
  readonly bytes: string
  /** The folders, or the files, that the policy grants. */
  readonly grants: readonly string[]
}

/** The input of a module. */
export interface WasmWords {
  readonly args: readonly string[]
  readonly stdin: string
}

export type OutputStream = 'stdout' | 'stderr'

export type MessageFromCell =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'progress'; readonly value: unknown }
  /** A line of its logger, with data of any JSON. */
  | { readonly kind: 'log'; readonly level: string; readonly message: string; readonly data?: unknown }
  /** The tool printed this. */
  | { readonly kind: 'text'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  /** A WASI module wrote these bytes. */
  | { readonly kind: OutputStream; readonly bytes: Uint8Array }
  /** Of a WASI module: its exit status. */
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'thrown'; readonly error: ThrownError }
  /** The tool ended its process before it returned. */
  | { readonly kind: 'exited'; readonly code: number }

export interface ThrownError {
  readonly name: string
  readonly message: string
  readonly stack: string
}

const HEADER = 5

/** The first byte of a message. */
export const MESSAGE_LETTERS = {
  load: 'L',
  call: 'C',
  loaded: 'R',
  progress: 'P',
  text: 'T',
  log: 'G',
  stdout: 'O',
  stderr: 'E',
  value: 'V',
  thrown: 'X',
  exited: 'Q',
} as const

export const encodeMessage = ({
  kind,
  ...content
}: MessageToCell | Exclude<MessageFromCell, { kind: 'progress' | 'value' | OutputStream }>): Buffer =>
  frame(kind, JSON.stringify(content))

/** For a value that is JSON already. */
export const encodeWritten = (kind: 'progress' | 'value', json: string): Buffer => frame(kind, json)

export const encodeOutput = (stream: OutputStream, bytes: Uint8Array): Buffer => {
  const message = headed(stream, bytes.byteLength)
  message.set(bytes, HEADER)
  return message
}

const frame = (kind: keyof typeof MESSAGE_LETTERS, text: string): Buffer => {
  const message = headed(kind, Buffer.byteLength(text))
  message.write(text, HEADER)
  return message
}

const headed = (kind: keyof typeof MESSAGE_LETTERS, length: number): Buffer => {
  const message = Buffer.allocUnsafe(HEADER + length)
  message.write(MESSAGE_LETTERS[kind], 0, 'latin1')
  message.writeUInt32LE(length, 1)
  return message
}

export interface MessageSink<Kind> {
  /** The largest content of a message in bytes, by its kind. Other kinds are refused. */
  readonly largest: Readonly<Record<Kind & string, number>>
  readonly onMessage: (kind: Kind, content: Buffer) => void
  /** A message is too large. Its content is dropped. */
  readonly onTooLarge: (kind: Kind, bytes: number) => void
}

/** Cuts a stream into messages. Throws at invalid bytes. */
export const createMessageReader = <Kind extends keyof typeof MESSAGE_LETTERS>({
  largest,
  onMessage,
  onTooLarge,
}: MessageSink<Kind>): ((bytes: Buffer) => void) => {
  const kindOf = new Map((Object.keys(largest) as Kind[]).map((kind) => [MESSAGE_LETTERS[kind].charCodeAt(0), kind]))
  const header = Buffer.alloc(HEADER)
  let hasOfHeader = 0
  let kind: Kind | undefined
  /** Bytes that are missing. They are dropped if `content` is undefined. */
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
