// Asks the person at the terminal through /dev/tty, because stdin and stdout belong to the command.
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { ReadStream, WriteStream } from 'node:tty'

import { writeText } from '../../line/text/console-text.js'

export interface Dialog {
  readonly say: (text: string) => void
  /** Reads one line, which starts with the given text. Undefined at its end (^D). */
  readonly ask: (question: string, given?: string) => Promise<string | undefined>
  readonly close: () => void
}

const TERMINAL = '/dev/tty'

export const openDialog = (): Dialog => {
  const output = openSync(TERMINAL, constants.O_WRONLY | constants.O_NOCTTY)
  dropWhatWasTyped()
  const say = (text: string) => {
    writeText(output, text)
  }
  return {
    say,
    ask: (question, given = '') =>
      new Promise((resolve) => {
        const input = new ReadStream(openSync(TERMINAL, constants.O_RDONLY | constants.O_NOCTTY))
        const screen = new WriteStream(openSync(TERMINAL, constants.O_WRONLY | constants.O_NOCTTY))
        const lines = createInterface({ input, output: screen, terminal: true, historySize: 0 })
        let answer: string | undefined
        lines.once('line', (line) => {
          answer = line
          lines.close()
        })
        // ^C ends this process, and nothing runs.
        lines.once('SIGINT', () => {
          lines.close()
          say('\n')
          process.kill(process.pid, 'SIGINT')
        })
        lines.once('close', () => {
          input.destroy()
          screen.destroy()
          resolve(answer)
        })
        lines.setPrompt(question)
        lines.prompt()
        if (given !== '') lines.write(given)
      }),
    close: () => {
      closeSync(output)
    },
  }
}

/** Lines typed before the question are no answers. */
const dropWhatWasTyped = (): void => {
  const descriptor = openSync(TERMINAL, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK)
  const buffer = Buffer.alloc(4096)
  try {
    while (readSync(descriptor, buffer) > 0);
  } catch {
    // EAGAIN: all were read.
  } finally {
    closeSync(descriptor)
  }
}
