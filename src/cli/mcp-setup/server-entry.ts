// One server in a client's file: its command becomes `cordon mcp … -- command`, and back.
import { basename } from 'node:path'

export interface ServerEntry {
  /** Keys from the top of the file to the server, the last of them its name. */
  readonly place: readonly string[]
  readonly value: unknown
}

/** What starts a server. */
export interface StartCommand {
  readonly command: string
  readonly args: readonly string[]
}

export type ReadEntry =
  | { readonly kind: 'bare'; readonly start: StartCommand; readonly variables: readonly string[] }
  | { readonly kind: 'wrapped'; readonly start: StartCommand }
  /** `because`: why it cannot be wrapped. */
  | { readonly kind: 'other'; readonly because: string }

export const nameOfEntry = ({ place }: ServerEntry): string => place.at(-1) ?? ''

export const readEntry = ({ value }: ServerEntry): ReadEntry => {
  if (!isMapping(value)) return other('it is not a mapping')
  const { command, args = [], env = {} } = value
  if (command === undefined)
    return other(
      ['url', 'httpUrl', 'serverUrl'].some((key) => key in value)
        ? 'it is a remote server: it runs no program here'
        : 'it has no command',
    )
  if (typeof command !== 'string' || !isTexts(args) || !isMapping(env)) return other('its command cannot be read')
  const inner = commandInside([command, ...args])
  return inner === undefined
    ? { kind: 'bare', start: { command, args }, variables: Object.keys(env) }
    : { kind: 'wrapped', start: inner }
}

/** `cordon`: the words that start Cordon. */
export const wrapped = (
  name: string,
  { start, variables }: Extract<ReadEntry, { kind: 'bare' }>,
  cordon: readonly [string, ...string[]],
): StartCommand => {
  const [command, ...first] = cordon
  const passed = variables.flatMap((variable) => ['--env', variable])
  return {
    command,
    args: [...first, 'mcp', '--server', name, ...passed, '--', start.command, ...start.args],
  }
}

/** The command behind `cordon mcp … --`. */
const commandInside = (words: readonly string[]): StartCommand | undefined => {
  const at = words.findIndex(
    (word, index) => word === 'mcp' && ['cordon', 'cordon.js'].includes(basename(words[index - 1] ?? '')),
  )
  const end = at === -1 || at > 2 ? -1 : words.indexOf('--', at)
  const [command, ...args] = end === -1 ? [] : words.slice(end + 1)
  return command === undefined ? undefined : { command, args }
}

const other = (because: string): ReadEntry => ({ kind: 'other', because })

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')
