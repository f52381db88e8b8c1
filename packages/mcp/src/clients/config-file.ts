// Reads a client's file, and changes entries of servers in it. It keeps the first version as a backup.
import { chmodSync, existsSync, lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import { CordonError, messageOf } from 'cordon/errors'
import { isLink, readOrdinaryFile } from 'cordon/runtime'
import { backupBeside, copyNew, readSettingsFile, writeSettingsFile } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import type { ClientFile } from './clients.js'
import { jsonText, tomlText } from './config-text.js'
import type { ConfigText, EntryFields } from './config-text.js'
import type { ServerEntry } from './server-entry.js'

const FORMATS: Readonly<Record<ClientFile['format'], ConfigText>> = { json: jsonText, toml: tomlText }

export interface ReadConfig {
  readonly text: string
  readonly entries: readonly ServerEntry[]
}

/** Undefined if there is no such file. */
export const readConfig = ({ path, scope, format, places }: ClientFile): ReadConfig | undefined => {
  try {
    const text = readSettingsFile(path)
    if (text === undefined) return undefined
    const value = text.trim() === '' ? {} : FORMATS[format].parse(text)
    const entries = places.flatMap((place) => entriesAt(value, place))
    return { text, entries: entries.map((entry) => ({ file: path, scope, ...entry })) }
  } catch (error) {
    throw fail('client-file-unreadable', { path, problem: messageOf(error) }, error)
  }
}

export interface Change {
  readonly place: readonly string[]
  readonly fields: EntryFields
}

/** Writes all changes, or none. */
export const writeConfig = (
  { path, format, scope }: ClientFile,
  { text }: ReadConfig,
  changes: readonly Change[],
  /** For a file with secrets, which tools may read: where its backup is instead of beside it. */
  secretBackup?: string,
  /** The whole text after the changes, if it is known. */
  known?: string,
): void => {
  const { parse, withFields } = FORMATS[format]
  try {
    const after = known ?? changes.reduce((current, { place, fields }) => withFields(current, place, fields), text)
    if (!isDeepStrictEqual(plain(parse(after)), changes.reduce(changed, plain(parse(text)))))
      throw new Error('its form is one that cannot be changed without changing more')
    writeSettingsFile(path, {
      before: text,
      after,
      project: scope === 'project' ? process.cwd() : undefined,
      mode: { ofNew: 0o600 },
      backUp: (real) => {
        backUp(real, secretBackup)
      },
    })
  } catch (error) {
    if (error instanceof CordonError) throw error
    throw fail('client-file-unchanged', { path, problem: messageOf(error) }, error)
  }
}

/**
 * The first version of a file, if the file differs from it only by what Cordon wrote: `installed` are these fields, as
 * they are now, and `changes` take them back. Undefined if somebody changed more, or there is no backup.
 */
export const untouchedVersion = (
  { path, format }: ClientFile,
  { text }: ReadConfig,
  { installed, changes }: { readonly installed: readonly Change[]; readonly changes: readonly Change[] },
  secretBackup: string,
): { readonly text: string; readonly backup: string } | undefined => {
  for (const backup of [secretBackup, backupBeside(realpathSync(path))]) {
    if (!existsSync(backup) || isLink(backup)) continue
    try {
      const first = readOrdinaryFile(backup)
      // A file that is no UTF-8 has changed by being read.
      if (first.includes('\uFFFD')) continue
      const again = installed.reduce((now, { place, fields }) => FORMATS[format].withFields(now, place, fields), first)
      // The command may be another one than at first, if somebody changed it before a second install.
      const { parse } = FORMATS[format]
      const isMeant = isDeepStrictEqual(plain(parse(first)), changes.reduce(changed, plain(parse(text))))
      if (again === text && isMeant) return { text: first, backup }
    } catch {
      // It is not a file of settings, or the entry is not in it.
    }
  }
  return undefined
}

/** The first version stays: later ones differ from it by what Cordon wrote. */
const backUp = (path: string, secret: string | undefined): void => {
  const beside = backupBeside(path)
  const backup = secret ?? beside
  // A project may have a pipe there, whose text never ends.
  const hasOne = lstatSync(beside, { throwIfNoEntry: false })?.isFile() === true
  mkdirSync(dirname(backup), { recursive: true, mode: 0o700 })
  if (!existsSync(backup)) copyNew(secret !== undefined && hasOne ? beside : path, backup)
  if (secret !== undefined) {
    chmodSync(secret, 0o600)
    // It has the secrets too.
    if (hasOne) rmSync(beside)
  }
}

const entriesAt = (
  value: unknown,
  place: readonly string[],
  above: readonly string[] = [],
): readonly Pick<ServerEntry, 'place' | 'value'>[] => {
  if (typeof value !== 'object' || value === null) return []
  const [key, ...rest] = place
  if (key === undefined)
    return Object.entries(value).map(([name, entry]) => ({ place: [...above, name], value: entry as unknown }))
  const keys = key === '*' ? Object.keys(value) : Object.hasOwn(value, key) ? [key] : []
  return keys.flatMap((each) => entriesAt((value as Readonly<Record<string, unknown>>)[each], rest, [...above, each]))
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown

/** What a change means, independently of how it is written. */
const changed = (value: unknown, { place, fields }: Change): unknown => {
  const [key, ...rest] = place
  const mapping = value as Readonly<Record<string, unknown>>
  if (key !== undefined) return { ...mapping, [key]: changed(mapping[key], { place: rest, fields }) }
  return Object.fromEntries(Object.entries({ ...mapping, ...fields }).filter(([, field]) => field !== undefined))
}
