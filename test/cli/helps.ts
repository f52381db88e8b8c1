// The help of every command, which also defines how its arguments are read.
import { expect } from 'vitest'

import { listCommands } from '../../packages/core/src/commands/command-table.js'
import { parseArguments, parseScattered } from '../../packages/core/src/line/arguments.js'
import type { Arguments } from '../../packages/core/src/line/arguments.js'
import { PRODUCT as MANIFEST } from '../../packages/manifest/src/commands/index.js'
import { PRODUCT as MCP } from '../../packages/mcp/src/commands/index.js'
import { PRODUCT as TEAM } from '../../packages/team/src/commands/index.js'

/** In the order of docs/cli.md. */
export const LISTED = listCommands([MCP, MANIFEST, TEAM])

const nameIn = (words: readonly string[], { words: own }: (typeof LISTED)[number]): boolean =>
  own.every((word, at) => word.split('|').includes(words[at] ?? ''))

/** The command that these words name: `['team', 'tools', 'list']` is `cordon team tools`. */
export const listedFor = (words: readonly string[]): (typeof LISTED)[number] | undefined =>
  LISTED.filter((each) => nameIn(words, each)).sort((one, other) => other.words.length - one.words.length)[0]

/** Reads words as the command does; an option that it does not have is an error. */
export const readAs = (words: readonly string[]): Arguments => {
  const { words: own, command, help } = listedFor(words) ?? expect.fail(`there is no cordon ${words.join(' ')}`)
  const name = `cordon ${own.join(' ')}`
  // The core reads the words of an action, except for one whose word is a part of the command's name.
  return (command.takesWords === true ? parseScattered : parseArguments)(words.slice(own.length), help, name)
}
