import { sizeOf, takeSnapshot } from '../gate/index.js'
import type { Snapshot } from '../gate/index.js'

import { createMessageReader } from './function-cell/messages.js'
import type { MessageFromCell, ThrownError } from './function-cell/messages.js'

/** What came back from the process of a function tool. It is the tool's word: none of it is believed to be anything but data. */
export type FunctionReply = { readonly printed: string } & (
  | { readonly kind: 'value'; readonly value: Snapshot }
  | { readonly kind: 'thrown'; readonly error: ThrownError }
  | { readonly kind: 'nothing'; readonly problem: string | undefined }
)

export interface ReplyListener {
  readonly take: (bytes: Uint8Array) => void
  readonly end: () => FunctionReply
}

const LARGEST_MESSAGE = 256 * 1024 * 1024
const MOST_PRINTED = 1024 * 1024

export const listenToFunction = (onProgress: (value: unknown) => void): ReplyListener => {
  let printed = ''
  let answer: { readonly kind: 'value'; readonly value: Snapshot } | { readonly kind: 'thrown'; readonly error: ThrownError } | undefined
  let problem: string | undefined
  const onMessage = (message: MessageFromCell) => {
    switch (message.kind) {
      case 'loaded':
        break
      case 'progress':
        onProgress(message.value)
        break
      case 'text':
        // Nothing is done for what is no longer kept: a tool may say very much, in very small pieces.
        if (printed.length < MOST_PRINTED) printed += message.text.slice(0, MOST_PRINTED - printed.length)
        break
      case 'value':
        answer ??= { kind: 'value', value: readValue(message.value) }
        break
      case 'thrown':
        answer ??= { kind: 'thrown', error: readError(message.error) }
        break
    }
  }
  const read = createMessageReader<MessageFromCell>(['loaded', 'progress', 'text', 'value', 'thrown'], LARGEST_MESSAGE, onMessage)
  return {
    take: (bytes) => {
      if (problem !== undefined) return
      try {
        read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error)
      }
    },
    end: () => {
      if (answer === undefined) return { kind: 'nothing', problem, printed }
      return { ...answer, printed }
    },
  }
}

/** Copied and hashed while its process is still being put away, which takes longer. */
const readValue = (value: unknown): Snapshot => {
  const taken = takeSnapshot(value)
  if (taken.kind === 'json') sizeOf(taken.value)
  return taken
}

const readError = (error: unknown): ThrownError => {
  const given = (typeof error === 'object' && error !== null ? error : {}) as Readonly<Record<string, unknown>>
  const text = (key: string) => (typeof given[key] === 'string' ? given[key] : undefined)
  const [code, syscall, path] = [text('code'), text('syscall'), text('path')]
  return {
    name: text('name') ?? 'Error',
    message: text('message') ?? 'it threw something that is no error',
    stack: text('stack') ?? '',
    ...(code === undefined ? {} : { code }),
    ...(syscall === undefined ? {} : { syscall }),
    ...(path === undefined ? {} : { path }),
  }
}
