import type { Arguments } from './arguments.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** The words and the variables of this process. No other code of the command line reads them. */
export interface CommandLine {
  readonly given: Arguments
  readonly environment: Environment
}
