import type { Arguments } from './arguments.js'

/** What a command learns about the process it runs in; nothing below reads it elsewhere. */
export interface CommandLine {
  readonly given: Arguments
  readonly environment: Readonly<Record<string, string | undefined>>
}
