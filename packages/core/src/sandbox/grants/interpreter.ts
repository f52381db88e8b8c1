// The first line of a script, as the kernel and env read it.
import { closeSync, readSync } from 'node:fs'

import { statSync } from '../../platform/index.js'
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'

import { isExecutable, openFile } from './object-at.js'

/** What `#!` names: `/bin/sh`; or `/usr/bin/env` and the name that it looks up. */
export interface InterpreterLine {
  readonly interpreter: string
  /** The program that env looks up, if its arguments leave no doubt. */
  readonly lookedUp: string | undefined
}

// The kernel reads no more.
const LONGEST_LINE = 256

export const readInterpreterLine = (path: string): InterpreterLine | undefined => {
  // Blanks separate words. The kernel takes a carriage return for a part of the name.
  const [interpreter, ...words] = firstLine(path)
    .split(/[ \t]+/)
    .filter((word) => word !== '')
  return interpreter === undefined
    ? undefined
    : { interpreter, lookedUp: interpreter.endsWith('/env') ? nameIn(words) : undefined }
}

const firstLine = (path: string): string => {
  const file = openFile(path)
  if (file === undefined) return ''
  try {
    const bytes = Buffer.alloc(LONGEST_LINE)
    const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0))
    return /^#!([^\n]*)/.exec(text)?.[1] ?? ''
  } finally {
    closeSync(file)
  }
}

/** `env node`, `env -S node --flag`, `env -S A=b node`. Other options of env may have values that look like a name. */
const nameIn = (words: readonly string[]): string | undefined => {
  const plain = words[0] === '-S' ? words.slice(1) : words
  const name = plain.find((word) => !word.includes('='))
  return name?.startsWith('-') === true ? undefined : name
}

export const requireInterpreter = (script: string, interpreter: string): void => {
  const found = statSync(interpreter, { throwIfNoEntry: false })
  if (found === undefined) throw interpreterMissing(script, interpreter, 'install it, or correct the line')
  const refuse = (problem: string, fix: string) =>
    fail('program-not-executable', {
      program: `${interpreter}, the interpreter in the first line of ${script}`,
      problem,
      fix,
    })
  if (!found.isFile()) throw refuse('it is no file', 'correct the line')
  if (!isExecutable(interpreter)) throw refuse('no execute permission', `chmod +x ${interpreter}, or correct the line`)
}

export const interpreterMissing = (script: string, interpreter: string, fix: string): CordonError => {
  const name = interpreter.replace(/\r$/, '')
  const line = `the interpreter in the first line of ${script}`
  return name === interpreter
    ? fail('program-not-found', { program: `${name}, ${line}`, fix })
    : fail('program-not-found', {
        program: `${name}\\r, ${line}, which ends in a carriage return (CRLF)`,
        fix: `save the script with Unix line ends: sed -i 's/\\r$//' ${script}`,
      })
}
