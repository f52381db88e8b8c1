// Output of Cordon itself, with writeSync: the streams of Node would make the shared descriptors non-blocking, and the
// command that runs on them would fail with EAGAIN.
import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'

import type { Environment } from '../arguments.js'
import { visible } from './visible-text.js'

export const STDOUT = 1
export const STDERR = 2

/** False when nobody reads the descriptor any more. */
export const writeFully = (descriptor: number, bytes: Uint8Array): boolean => {
  for (let at = 0; at < bytes.byteLength;) {
    try {
      at += writeSync(descriptor, bytes, at)
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'EAGAIN') return false
      // Another process made it non-blocking. Wait for the reader.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
  return true
}

export const writeText = (descriptor: number, text: string): void => {
  writeFully(descriptor, Buffer.from(text))
}

/** One line without hidden characters, or any that act on a terminal: texts come from files and commands. */
export const oneLine = (text: string): string =>
  visible(text.replace(/\s+/g, (blank) => (blank.includes('\n') ? ' ' : blank)))

const ACTING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** JSON on one line, which cannot act on a terminal either. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replace(ACTING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`

export type Paint = (style: 'bold' | 'red' | 'green' | 'yellow' | 'dim', text: string) => string

const CODES = { bold: 1, red: 31, green: 32, yellow: 33, dim: 2 } as const

/** Colours only on a terminal, and not if its user refuses them (https://no-color.org). */
export const paintFor = (descriptor: number, environment: Environment): Paint =>
  paintOn(isatty(descriptor), environment)

export const paintOn = (isTerminal: boolean, environment: Environment): Paint => {
  const { NO_COLOR: unwanted, TERM: kind } = environment
  const plain = !isTerminal || (unwanted !== undefined && unwanted !== '') || kind === 'dumb'
  return (style, text) => (plain ? text : `\u001b[${CODES[style]}m${text}\u001b[0m`)
}

/** `1 tool`, `2 tools` */
export const counted = (count: number, what: string): string => `${String(count)} ${what}${count === 1 ? '' : 's'}`
