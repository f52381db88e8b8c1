// How the commands of this package print.
import { STDERR, STDOUT, writeText } from 'cordon/commands'

export const print = (...lines: readonly string[]): void => {
  for (const line of lines) writeText(STDOUT, `${line}\n`)
}

export const printJson = (value: unknown): void => {
  print(JSON.stringify(value, undefined, 2))
}

/** For the user, beside what a program may read. */
export const tell = (text: string): void => {
  writeText(STDERR, `cordon: ${text}\n`)
}
