// What starts or addresses an MCP server, as a manifest shows it. Arguments and addresses often contain tokens, so only
// what cannot be one is shown. The rest is a keyed hash, by which a change is seen.
import { hashOf } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'
import { keyedHash, portablePath } from 'cordon/manifest'
import type { ManifestKey, ProjectPlaces } from 'cordon/manifest'

import { readLock } from './lock-file.js'
import type { LockPlace } from './lock-file.js'
import { lockKeyOf, packageCallOf } from './package-words.js'

/** Shows the program or the package, names of options, and paths in the project or the home. */
export const serverWords = (argv: readonly string[], places: ProjectPlaces, key: ManifestKey): readonly string[] => {
  const shown = argv.length - (packageCallOf(argv)?.args.length ?? argv.length - 1)
  return argv.map((word, at) => (at < shown ? portablePath(word, places) : argument(word, places, key)))
}

/** Behind a single dash and a letter, the value may follow at once: `-psecret`. */
const OPTION = /^(?<name>--[A-Za-z][A-Za-z-]*|-[A-Za-z])(?:=(?<value>.*))?$/s

const argument = (word: string, places: ProjectPlaces, key: ManifestKey): string => {
  const { name, value } = OPTION.exec(word)?.groups ?? {}
  if (name !== undefined) return value === undefined ? name : `${name}=${shownValue(value, places, key)}`
  return shownValue(word, places, key)
}

const shownValue = (word: string, places: ProjectPlaces, key: ManifestKey): string => {
  const path = portablePath(word, places)
  return /^(?:\.|\.\.|~)(?:\/|$)/.test(path) ? path : keyedHash(key, 'argument', word)
}

/** The host, and a hash of the rest: a token may be in the path as well as in the query. */
export const serverAddress = (url: string, key: ManifestKey): string => {
  const { origin, href } = new URL(url)
  return href === `${origin}/` ? origin : `${origin}#${keyedHash(key, 'address', href)}`
}

/** The hash of its package in the lock. Null: it is not a package, or not pinned. */
export const pinOf = (argv: readonly string[], place: LockPlace): string | null => {
  const call = packageCallOf(argv)
  if (call === undefined) return null
  const locked = readLock(place)[lockKeyOf(call)]
  return locked === undefined ? null : hashOf(JSON.parse(JSON.stringify(locked)) as JsonValue)
}

/** Whether these words were shown so. A client's file may have them behind `cordon mcp … --`. */
export const areShownAs = (
  argv: readonly string[],
  shown: readonly string[],
  places: ProjectPlaces,
  key: ManifestKey,
): boolean => {
  const formsOf = (word: string) => [portablePath(word, places), argument(word, places, key)]
  const placeOf = (word: string) => shown.findIndex((each) => formsOf(word).includes(each))
  const end = placeOf('mcp') < 0 ? -1 : placeOf('--')
  return [shown, ...(end < 0 ? [] : [shown.slice(end + 1)])].some(
    (words) => words.length === argv.length && argv.every((word, at) => formsOf(word).includes(words[at] ?? '')),
  )
}
