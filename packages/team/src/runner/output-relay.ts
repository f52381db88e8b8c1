import { LONGEST_CHUNK } from '../store/index.js'
import type { OutputChunk, OutputStream } from '../store/index.js'

const EVERY_MS = 150
/** The newest output between two messages is kept. */
const MOST_KEPT = 4 * LONGEST_CHUNK

interface Said {
  readonly stream: OutputStream
  text: string
  skipped: number
}

/** Passes on the output of a tool a few times a second, to spare the database. `end` sends the rest. */
export const relayOutput = (
  send: (chunk: OutputChunk) => Promise<void>,
): { readonly say: (stream: OutputStream, text: string) => void; readonly end: () => Promise<void> } => {
  let waiting: Said[] = []
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> = Promise.resolve()

  const flush = (): void => {
    timer = undefined
    const said = waiting
    waiting = []
    // Errors are ignored: the result has all the output.
    sending = sending
      .then(async () => {
        for (const each of said) for (const chunk of chunksOf(each)) await send(chunk)
      })
      .catch(() => undefined)
  }
  return {
    say: (stream, text) => {
      const last = waiting.at(-1)
      const said = last?.stream === stream && stream !== 'progress' ? last : { stream, text: '', skipped: 0 }
      if (said !== last) waiting.push(said)
      said.text += text
      if (said.text.length > MOST_KEPT) {
        said.skipped += said.text.length - MOST_KEPT
        said.text = said.text.slice(-MOST_KEPT)
      }
      if (waiting.length > MOST_SAID) waiting.shift()
      timer ??= setTimeout(flush, EVERY_MS)
    },
    end: async () => {
      clearTimeout(timer)
      flush()
      await sending
    },
  }
}

const MOST_SAID = 32

const chunksOf = ({ stream, text, skipped }: Said): readonly OutputChunk[] =>
  Array.from({ length: Math.ceil(text.length / LONGEST_CHUNK) }, (_, at) => ({
    stream,
    content: text.slice(at * LONGEST_CHUNK, (at + 1) * LONGEST_CHUNK),
    skipped: at === 0 ? skipped : 0,
  }))
