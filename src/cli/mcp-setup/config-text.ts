import type { StartCommand } from './server-entry.js'

/** How a format is read and changed. */
export interface ConfigText {
  readonly parse: (text: string) => unknown
  /** The text with another start command at a place. Everything else stays as it is. */
  readonly withStart: (text: string, place: readonly string[], start: StartCommand) => string
}
