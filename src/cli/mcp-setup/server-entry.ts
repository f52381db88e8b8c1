// One server in a client's file: its command becomes `cordon mcp … -- command`, and back.
import { isMapping, isTexts } from '../../shapes/index.js'
import { urlOfEntry } from '../mcp/entry-url.js'

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

/** Variables that steer Cordon, Node or the loader of programs. An entry's variables reach the gateway first. */
const STEERING = /^(?:NODE_|LD_|DYLD_|CORDON_|XDG_|OPENSSL_|SSL_|GCONV_|GLIBC_|MALLOC_)|^(?:HOME|LOCPATH|BASH_ENV|ENV)$/

/** `cordon`: the words that start this program. */
export const readEntry = ({ value }: ServerEntry, cordon: readonly string[]): ReadEntry => {
  if (!isMapping(value)) return other('it is not a mapping')
  const { command, args = [], env = {} } = value
  if (command === undefined)
    return other(
      urlOfEntry(value) !== undefined ? 'it is a remote server: it runs no program here' : 'it has no command',
    )
  if (typeof command !== 'string' || !isTexts(args) || !isMapping(env)) return other('its command cannot be read')
  const steering = Object.keys(env).find((name) => STEERING.test(name))
  if (steering !== undefined) return other(`its variable ${steering} would steer Cordon itself: remove it first`)
  const inner = commandInside([command, ...args], cordon)
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
  const passed = variables.map((variable) => `--env=${variable}`)
  return {
    command,
    args: [...first, 'mcp', `--server=${name}`, ...passed, '--', start.command, ...start.args],
  }
}

/**
 * The command behind `cordon mcp … --`. Only this program and one that the user installed count: a project could bring
 * a program of that name.
 */
const commandInside = (words: readonly string[], cordon: readonly string[]): StartCommand | undefined => {
  const starts = [cordon, ['cordon'], ['npx', 'cordon'], ['npx', '-y', 'cordon']]
  const start = starts.find((each) => [...each, 'mcp'].every((word, at) => words[at] === word))
  const end = start === undefined ? -1 : words.indexOf('--', start.length)
  const [command, ...args] = end === -1 ? [] : words.slice(end + 1)
  return command === undefined ? undefined : { command, args }
}

const other = (because: string): ReadEntry => ({ kind: 'other', because })
