// Who asked for a command, and from where: what its words mean depends on that. Nothing on the path of a run asks the
// process instead, because the local host runs commands of many folders and environments.
import { fstatSync } from 'node:fs'
import { resolve } from 'node:path'
import { isatty } from 'node:tty'

import { fail } from '../errors/index.js'
import { parseAbsolutePath } from '../policy/index.js'
import type { AbsolutePath } from '../policy/index.js'
import { lookUp } from '../sandbox/index.js'

import type { Arguments, Environment } from './arguments.js'

export interface Caller {
  readonly environment: Environment
  /** Where its relative paths begin. Throws if that folder is gone. */
  readonly folder: () => AbsolutePath
  /** The path by which the program was started. */
  readonly startedAs: string | undefined
  /** Whether the native `cordon` was started, which asks a local host first. */
  readonly isFronted: boolean
  readonly terminals: Terminals
  /** Whether another program reads its output, and may need the keys of the terminal. */
  readonly isPiped: boolean
}

/** Which streams are terminals. */
export interface Terminals {
  readonly in: boolean
  readonly out: boolean
  readonly err: boolean
}

/** A command, and who asked for it. */
export interface CommandLine extends Caller {
  readonly given: Arguments
}

export const NO_TERMINALS: Terminals = { in: false, out: false, err: false }

/** This process. */
export const ownCaller = (environment: Environment, front?: string): Caller => ({
  environment,
  folder: () => {
    try {
      return parseAbsolutePath(process.cwd(), 'the working directory')
    } catch (cause) {
      throw fail('cwd-missing', { path: '.' }, cause)
    }
  },
  startedAs: front === undefined ? process.argv[1] : pathOf(front, environment),
  isFronted: front !== undefined,
  terminals: { in: isatty(0), out: isatty(1), err: isatty(2) },
  isPiped: isPipe(1),
})

export const hasTerminal = ({ terminals }: Pick<Caller, 'terminals'>): boolean =>
  terminals.in || terminals.out || terminals.err

/** Of a program that was called so. */
export const pathOf = (called: string, { PATH: searchPath = '' }: Environment, folder = '.'): string | undefined =>
  called.includes('/') ? resolve(folder, called) : lookUp(called, searchPath)

const isPipe = (descriptor: number): boolean => {
  try {
    const status = fstatSync(descriptor)
    return status.isFIFO() || status.isSocket()
  } catch {
    return false
  }
}
