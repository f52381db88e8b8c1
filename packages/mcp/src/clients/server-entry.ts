// One server in a client's file: its command becomes `cordon mcp … -- command`, its address `cordon mcp --config FILE`,
// and back.
import { isMapping, isTexts } from 'cordon/shapes'
import { SHARED_LAUNCHER } from 'cordon/commands'

import { urlOfEntry } from '../servers/remote-server.js'
import type { EntryFields } from './config-text.js'
import { configWord, movedHeadersPath, movedFields, readKept, whyNotRemote } from './remote-entry.js'
import type { KeptRemote } from './remote-entry.js'

export interface ServerEntry {
  readonly file: string
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
  | { readonly kind: 'wrapped'; readonly start: StartCommand }
  | { readonly kind: 'wrapped-remote'; readonly kept: KeptRemote }
  /** `because`: why it cannot be wrapped. */
  | { readonly kind: 'other'; readonly because: string }

export const nameOfEntry = ({ place }: ServerEntry): string => place.at(-1) ?? ''

/** In a project's file, which is for several machines: the copy of whoever starts the client. */
export const SHARED_WORDS = ['/bin/sh', '-c', `exec ${SHARED_LAUNCHER} "$@"`, 'cordon'] as const

/** Variables that steer Cordon, Node or the loader of programs. An entry's variables reach the gateway first. */
const STEERING = /^(?:NODE_|LD_|DYLD_|CORDON_|XDG_|OPENSSL_|SSL_|GCONV_|GLIBC_|MALLOC_)|^(?:HOME|LOCPATH|BASH_ENV|ENV)$/

export const readEntry = (entry: ServerEntry, cordon: ThisCordon): ReadEntry => {
  const { value } = entry
  if (!isMapping(value)) return other('it is not a mapping')
  const { command, args = [], env = {} } = value
  if (command === undefined) return readRemote(nameOfEntry(entry), value)
  if (typeof command !== 'string' || !isTexts(args) || !isMapping(env)) return other('its command cannot be read')
  const steering = Object.keys(env).find((name) => STEERING.test(name))
  if (steering !== undefined) return other(`its variable ${steering} would steer Cordon itself: remove it first`)
  const words = wordsOfCordon([command, ...args], cordon)
  if (words === undefined) return { kind: 'bare', start: { command, args }, variables: Object.keys(env) }
  const end = words.indexOf('--')
  const [inner, ...innerArgs] = end === -1 ? [] : words.slice(end + 1)
  if (inner !== undefined) return { kind: 'wrapped', start: { command: inner, args: innerArgs } }
  const kept = readKept(words, movedHeadersPath(cordon.remotes, entry))
  if (kept === undefined) return other('it starts Cordon already')
  return kept === 'lost'
    ? other('Cordon no longer has its address: take the entry from the backup that ends with .before-cordon')
    : { kind: 'wrapped-remote', kept }
}

const readRemote = (name: string, value: Readonly<Record<string, unknown>>): ReadEntry => {
  const url = urlOfEntry(value)
  if (typeof url !== 'string') return other('it has no command')
  const because = whyNotRemote(name, value)
  return because === undefined ? { kind: 'bare-remote', url, moved: movedFields(value) } : other(because)
}

export const wrapEntry = (
  name: string,
  { start, variables }: Extract<ReadEntry, { kind: 'bare' }>,
  { words: [command, ...first] }: ThisCordon,
): StartCommand => {
  const passed = variables.map((variable) => `--env=${variable}`)
  return {
    command,
    args: [...first, 'mcp', `--server=${name}`, ...passed, '--', start.command, ...start.args],
  }
}

/** `path`: the file with its address, of which readers of the client's file see only the host. */
export const wrappedRemote = (
  name: string,
  { path, url }: Pick<KeptRemote, 'path' | 'url'>,
  { words: [command, ...first] }: ThisCordon,
): StartCommand => ({
  command,
  args: [...first, 'mcp', `--server=${name}`, `--origin=${new URL(url).origin}`, configWord(path)],
})

export const startFields = ({ command, args }: StartCommand): EntryFields => ({
  command,
  args: args.length === 0 ? undefined : args,
})

/**
 * The words after `cordon mcp`. Only this program and one that the user installed count: a project could bring a
 * program of that name.
 */
const wordsOfCordon = (words: readonly string[], { words: cordon }: ThisCordon): readonly string[] | undefined => {
  const starts = [cordon, SHARED_WORDS, ['cordon'], ['npx', 'cordon'], ['npx', '-y', 'cordon']]
  const start = starts.find((each) => [...each, 'mcp'].every((word, at) => words[at] === word))
  return start === undefined ? undefined : words.slice(start.length + 1)
}

const other = (because: string): ReadEntry => ({ kind: 'other', because })
