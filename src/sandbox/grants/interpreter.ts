// The first line of a script, as the kernel and env read it.
import { closeSync, openSync, readSync, statSync } from 'node:fs'

import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'

import { isExecutable } from './object-at.js'

/** What `#!` names: `/bin/sh`; or `/usr/bin/env` and the name that it looks up. */
export interface InterpreterLine {
  readonly interpreter: string
  /** The program that env is told to find, where its words are plain enough to be sure. */
  readonly lookedUp: string | undefined
}

// As much as the kernel looks at.
const LONGEST_LINE = 256

export const readInterpreterLine = (path: string): InterpreterLine | undefined => {
  const line = firstLine(path)
  // Blanks separate words. A carriage return does not: the kernel takes it for a part of the name.
  const [interpreter = '', ...words] = line === undefined ? [] : line.split(/[ \t]+/).filter((word) => word !== '')
  return interpreter === ''
    ? undefined
    : { interpreter, lookedUp: interpreter.endsWith('/env') ? nameIn(words) : undefined }
}

const firstLine = (path: string): string | undefined => {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(LONGEST_LINE)
    const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0))
    return text.startsWith('#!') ? text.slice(2).split('\n')[0] : undefined
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

/** Why a script cannot run: its interpreter is not there, or is nothing that can be executed. */
export const interpreterProblem = (script: string, interpreter: string): CordonError | undefined => {
  const found = statSync(interpreter, { throwIfNoEntry: false })
  if (found === undefined) return interpreterMissing(script, interpreter, 'install it, or correct the line')
  const program = `${interpreter}, the interpreter in the first line of ${script}`
  if (!found.isFile())
    return fail('program-not-executable', { program, problem: 'it is no file', fix: 'correct the line' })
  return isExecutable(interpreter)
    ? undefined
    : fail('program-not-executable', {
        program,
        problem: 'no execute permission',
        fix: `chmod +x ${interpreter}, or correct the line`,
      })
}

export const interpreterMissing = (script: string, interpreter: string, fix: string): CordonError => {
  const name = interpreter.replace(/\r$/, '')
  if (name !== interpreter) {
    const program = `${name}\\r, the interpreter in the first line of ${script}, which ends in a carriage return (CRLF)`
    return fail('program-not-found', {
      program,
      fix: `save the script with Unix line ends: sed -i 's/\\r$//' ${script}`,
    })
  }
  return fail('program-not-found', { program: `${interpreter}, the interpreter in the first line of ${script}`, fix })
}
