// One server in a client's file: its command becomes `cordon mcp … -- command`, its address `cordon mcp --config FILE`,
// and back.
import { isMapping, isTexts } from 'cordon/shapes'
import { SHARED_LAUNCHER, steersPrograms } from 'cordon/commands'

import { urlOfEntry } from '../servers/remote-server.js'
import type { Scope } from './clients.js'
import type { EntryFields } from './config-text.js'
import { configWord, movedHeadersPath, movedFields, readKept, whyNotRemote } from './remote-entry.js'
import type { KeptRemote } from './remote-entry.js'

export interface ServerEntry {
  readonly file: string
  readonly scope: Scope
  /** Keys from the top of the file to the server, the last of them its name. */
  readonly place: readonly string[]
  readonly value: unknown
}

/** What starts a server. */
export interface StartCommand {
  readonly command: string
  readonly args: readonly string[]
}

/** How this program is started, and where it keeps the addresses of remote servers. */
export interface ThisCordon {
  readonly words: readonly [string, ...string[]]
  readonly remotes: string
}

export type ReadEntry =
  | { readonly kind: 'bare'; readonly start: StartCommand; readonly variables: readonly string[] }
  /** `moved`: the fields that say where it is. */
  | { readonly kind: 'bare-remote'; readonly url: string; readonly moved: EntryFields }
  /** `options`: those of Cordon that install does not write. */
  | { readonly kind: 'wrapped'; readonly start: StartCommand; readonly options: readonly string[] }
  | { readonly kind: 'wrapped-remote'; readonly kept: KeptRemote; readonly options: readonly string[] }
  /** `because`: why it cannot be wrapped. */
  | { readonly kind: 'other'; readonly because: string }

export const nameOfEntry = ({ place }: ServerEntry): string => place.at(-1) ?? ''

/** In a project's file, which is for several machines: the copy of whoever starts the client. */
export const SHARED_WORDS = ['/bin/sh', '-c', `exec ${SHARED_LAUNCHER} "$@"`, 'cordon'] as const

export const readEntry = (entry: ServerEntry, cordon: ThisCordon): ReadEntry => {
  const { value } = entry
  if (!isMapping(value)) return other('it is not a mapping')
  const { command, args = [], env = {} } = value
  if (command === undefined) return readRemote(nameOfEntry(entry), value)
  if (typeof command !== 'string' || !isTexts(args) || !isMapping(env)) return other('its command cannot be read')
  // Clients pass these to what they start, which is Cordon.
  const steering = Object.keys(env).find(steersPrograms)
  if (steering !== undefined) return other(`its variable ${steering} would steer Cordon itself: remove it first`)
  if (value['envFile'] !== undefined)
    return other('its "envFile" could steer Cordon itself: move what it needs to "env"')
  if (urlOfEntry(value) !== undefined) return other('it has a command and an address: keep one')
  const found = startOfCordon([command, ...args], cordon, entry.scope)
  if (found === undefined) return { kind: 'bare', start: { command, args }, variables: Object.keys(env) }
  if (found.kind === 'replaceable')
    return other(
      `it starts Cordon as \`${found.start.join(' ')}\`, and a project can bring a program of that name: ` +
        'keep only the words after --, and put it behind Cordon with cordon mcp install',
    )
  const { words } = found
  const end = words.indexOf('--')
  const [inner, ...innerArgs] = end === -1 ? [] : words.slice(end + 1)
  const written = [`--server=${nameOfEntry(entry)}`, ...Object.keys(env).map(passed)]
  const options = words.slice(0, end === -1 ? undefined : end).filter((word) => !written.includes(word))
  if (inner !== undefined) return { kind: 'wrapped', start: { command: inner, args: innerArgs }, options }
  const kept = readKept(words, movedHeadersPath(cordon.remotes, entry))
  if (kept === undefined) return other('it starts Cordon already')
  return kept === 'lost'
    ? other('Cordon no longer has its address: take the entry from the backup that ends with .before-cordon')
    : { kind: 'wrapped-remote', kept, options: options.filter((word) => !isOfRemote(word, kept.path)) }
}

const readRemote = (name: string, value: Readonly<Record<string, unknown>>): ReadEntry => {
  const url = urlOfEntry(value)
  if (typeof url !== 'string') return other('it has no command')
  const because = whyNotRemote(name, value)
  return because === undefined ? { kind: 'bare-remote', url, moved: movedFields(value) } : other(because)
}

const passed = (variable: string): string => `--env=${variable}`

export const wrapEntry = (
  name: string,
  { start, variables }: Extract<ReadEntry, { kind: 'bare' }>,
  { words: [command, ...first] }: ThisCordon,
): StartCommand => ({
  command,
  args: [...first, 'mcp', `--server=${name}`, ...variables.map(passed), '--', start.command, ...start.args],
})

const ORIGIN = '--origin='

/** Cordon refuses another origin than that of the address. */
const isOfRemote = (word: string, path: string): boolean => word === configWord(path) || word.startsWith(ORIGIN)

/** `path`: the file with its address, of which readers of the client's file see only the host. */
export const wrappedRemote = (
  name: string,
  { path, url }: Pick<KeptRemote, 'path' | 'url'>,
  { words: [command, ...first] }: ThisCordon,
): StartCommand => ({
  command,
  args: [...first, 'mcp', `--server=${name}`, `${ORIGIN}${new URL(url).origin}`, configWord(path)],
})

export const startFields = ({ command, args }: StartCommand): EntryFields => ({
  command,
  args: args.length === 0 ? undefined : args,
})

type StartOfCordon =
  /** `words`: those after `cordon mcp`. */
  | { readonly kind: 'own'; readonly words: readonly string[] }
  | { readonly kind: 'replaceable'; readonly start: readonly string[] }

/**
 * Only this program and the copy of each user count. npx takes one from the project in which the client starts it, and
 * what a project's file calls `cordon` may be anything.
 */
const startOfCordon = (
  words: readonly string[],
  { words: cordon }: ThisCordon,
  scope: Scope,
): StartOfCordon | undefined => {
  const startIn = (starts: readonly (readonly string[])[]): readonly string[] | undefined =>
    starts.find((each) => [...each, 'mcp'].every((word, at) => words[at] === word))
  const inPath = [['cordon']]
  const own = startIn([cordon, SHARED_WORDS, ...(scope === 'user' ? inPath : [])])
  if (own !== undefined) return { kind: 'own', words: words.slice(own.length + 1) }
  const start = startIn([...inPath, ['npx', 'cordon'], ['npx', '-y', 'cordon']])
  return start === undefined ? undefined : { kind: 'replaceable', start: [...start, 'mcp'] }
}

const other = (because: string): ReadEntry => ({ kind: 'other', because })
