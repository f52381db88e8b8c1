// The driver reads answers in a handler of its socket. An error there (a value too long for a string, an invalid
// message) would end the process. Here it ends the connection, and so its statement.
import type { Duplex } from 'node:stream'

export const TOO_LARGE = 'CORDON_ANSWER_TOO_LARGE'
export const UNREADABLE = 'CORDON_ANSWER_UNREADABLE'

class AnswerError extends Error {
  readonly code: typeof TOO_LARGE | typeof UNREADABLE
  constructor(code: AnswerError['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** The types of the driver lack it. */
export const streamOf = (client: object): Duplex =>
  (client as { readonly connection: { readonly stream: Duplex } }).connection.stream

/** `mostBytes` bounds the answer to one message. */
export const guardAnswers = (stream: Duplex, mostBytes: number): void => {
  const emit = stream.emit.bind(stream) as (event: string | symbol, ...words: unknown[]) => boolean
  const write = stream.write.bind(stream) as (...words: unknown[]) => boolean
  let received = 0
  const guarded = (event: string | symbol, ...words: unknown[]): boolean => {
    if (event !== 'data') return emit(event, ...words)
    if (stream.destroyed) return false
    received += (words[0] as Buffer).byteLength
    if (received > mostBytes) return end(new AnswerError(TOO_LARGE, `it has more than ${String(mostBytes)} bytes`))
    try {
      return emit(event, ...words)
    } catch (error) {
      const isLong = (error as { readonly code?: unknown } | undefined)?.code === 'ERR_STRING_TOO_LONG'
      return end(
        new AnswerError(isLong ? TOO_LARGE : UNREADABLE, error instanceof Error ? error.message : String(error), error),
      )
    }
  }
  const end = (error: AnswerError): boolean => {
    stream.destroy(error)
    return true
  }
  Object.assign(stream, {
    emit: guarded,
    write: (...words: unknown[]) => {
      received = 0
      return write(...words)
    },
  })
}
