// Changes the files of clients: puts their servers behind Cordon, and takes them out.
import { rmSync } from 'node:fs'

import { CordonError } from 'cordon/errors'
import { isMapping } from 'cordon/shapes'

import type { ClientFile } from './clients.js'
import { readConfig, untouchedVersion, writeConfig } from './config-file.js'
import type { Change, ReadConfig } from './config-file.js'
import { backupPath, forgetRemote, keepRemote, movedHeadersPath } from './remote-entry.js'
import type { KeptRemote } from './remote-entry.js'
import { SHARED_WORDS, nameOfEntry, readEntry, startFields, wrapEntry, wrappedRemote } from './server-entry.js'
import type { ReadEntry, ServerEntry, StartCommand, ThisCordon } from './server-entry.js'

export type ClientAction = 'install' | 'uninstall' | 'list'

/** What became of a server. `wrapped` and `bare` say what it is, `installed` and `uninstalled` what was done. */
export interface Outcome {
  readonly client: string
  readonly scope: ClientFile['scope']
  readonly file: string
  readonly server: string
  readonly state: 'wrapped' | 'bare' | 'other' | 'installed' | 'uninstalled'
  readonly command: readonly string[] | null
  /** Of a remote server. */
  readonly url: string | null
  /** Of Cordon, if somebody wrote them into the file. */
  readonly options: readonly string[]
  readonly because: string | null
}

interface Wish {
  /** Empty for all servers. */
  readonly names: readonly string[]
  readonly cordon: ThisCordon
  readonly isDry: boolean
}

/** `problems`: why files are left as they are. */
export const changeClients = (
  action: ClientAction,
  files: readonly ClientFile[],
  wish: Wish,
): { readonly outcomes: readonly Outcome[]; readonly problems: readonly CordonError[] } => {
  const problems: CordonError[] = []
  const outcomes = files.flatMap((file) => {
    try {
      return changeFile(action, file, wish)
    } catch (error) {
      if (!(error instanceof CordonError)) throw error
      problems.push(error)
      return []
    }
  })
  return { outcomes, problems }
}

const changeFile = (action: ClientAction, file: ClientFile, { names, cordon, isDry }: Wish): readonly Outcome[] => {
  const config = readConfig(file)
  if (config === undefined) return []
  const written = file.scope === 'project' ? { ...cordon, words: SHARED_WORDS } : cordon
  const found = config.entries
    .filter((server) => names.length === 0 || names.includes(nameOfEntry(server)))
    .map((server) => {
      const entry = readEntry(server, cordon)
      return { server, entry, planned: planFor(action, server, entry, written) }
    })
  const changing = found.flatMap(({ planned }) => planned ?? [])
  if (changing.length > 0 && !isDry) carryOut(action, file, config, changing, cordon)
  return found.map(({ server, entry, planned }) => {
    const now = entry.kind === 'bare' || entry.kind === 'wrapped' ? entry.start : undefined
    const start = planned === undefined ? now : planned.start
    const done = action === 'install' ? 'installed' : 'uninstalled'
    return {
      client: file.client,
      scope: file.scope,
      file: file.path,
      server: nameOfEntry(server),
      state: planned === undefined ? STATES[entry.kind] : done,
      command: start === undefined ? null : [start.command, ...start.args],
      url: entry.kind === 'bare-remote' ? entry.url : entry.kind === 'wrapped-remote' ? entry.kept.url : null,
      options: planned === undefined && 'options' in entry ? entry.options : [],
      because: entry.kind === 'other' ? entry.because : null,
    }
  })
}

const STATES = {
  'bare': 'bare',
  'bare-remote': 'bare',
  'wrapped': 'wrapped',
  'wrapped-remote': 'wrapped',
  'other': 'other',
} as const

/** What becomes of a server. */
interface Planned {
  readonly change: Change
  /** What starts it afterwards. Undefined: it is remote. */
  readonly start: StartCommand | undefined
  /** Kept before the client's file is written. */
  readonly kept?: KeptRemote
  /** Removed afterwards. */
  readonly forgotten?: string
}

/** Undefined if the server stays as it is. */
const planFor = (
  action: ClientAction,
  server: ServerEntry,
  entry: ReadEntry,
  cordon: ThisCordon,
): Planned | undefined => {
  const { place } = server
  const name = nameOfEntry(server)
  const started = (start: StartCommand): Planned => ({ change: { place, fields: startFields(start) }, start })
  if (action === 'install' && entry.kind === 'bare') return started(wrapEntry(name, entry, cordon))
  if (action === 'uninstall' && entry.kind === 'wrapped') return started(entry.start)
  if (action === 'install' && entry.kind === 'bare-remote') {
    const { url, moved } = entry
    const path = movedHeadersPath(cordon.remotes, server)
    const start = wrappedRemote(name, { path, url }, cordon)
    const removed = Object.fromEntries(Object.keys(moved).map((key) => [key, undefined]))
    const change = { place, fields: { ...removed, ...startFields(start) } }
    return { change, start, kept: { path, name, url, fields: moved } }
  }
  if (action === 'uninstall' && entry.kind === 'wrapped-remote') {
    const { fields, path } = entry.kept
    const change = { place, fields: { command: undefined, args: undefined, ...fields } }
    return { change, start: undefined, forgotten: path }
  }
  return undefined
}

const carryOut = (
  action: ClientAction,
  file: ClientFile,
  config: ReadConfig,
  changing: readonly Planned[],
  { remotes }: ThisCordon,
): void => {
  const kept = changing.flatMap((each) => each.kept ?? [])
  try {
    for (const remote of kept) keepRemote(remote)
    const changes = changing.map(({ change }) => change)
    const secretBackup = backupPath(remotes, file.path)
    const untouched =
      action === 'uninstall'
        ? untouchedVersion(file, config, { installed: installedIn(config, changes), changes }, secretBackup)
        : undefined
    const isSecret = kept.length > 0 || untouched?.backup === secretBackup
    writeConfig(file, config, changes, isSecret ? secretBackup : undefined, untouched?.text)
    // The file is the backup again. A later install makes a new one.
    if (untouched !== undefined) rmSync(untouched.backup)
  } catch (error) {
    for (const { path } of kept) forgetRemote(path)
    throw error
  }
  for (const { forgotten } of changing) if (forgotten !== undefined) forgetRemote(forgotten)
}

/** The fields that uninstall changes, as they are now. */
const installedIn = ({ entries }: ReadConfig, changes: readonly Change[]): readonly Change[] =>
  changes.map(({ place, fields }) => {
    const now = entries.find((each) => each.place.join('\0') === place.join('\0'))?.value
    const written = Object.keys(fields).map((key) => [key, isMapping(now) ? now[key] : undefined] as const)
    // Install removes fields before it writes others.
    const inOrder = written.toSorted(([, one], [, other]) => Number(one !== undefined) - Number(other !== undefined))
    return { place, fields: Object.fromEntries(inOrder) }
  })
