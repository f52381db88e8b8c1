// `cordon mcp install | uninstall | list`: puts the servers in the files of clients behind Cordon, and takes them out.
import { rmSync } from 'node:fs'

import { CordonError } from 'cordon/errors'
import { didYouMean } from 'cordon/policy'
import { isMapping } from 'cordon/shapes'
import {
  homeOf,
  paintFor,
  remotesFolderOf,
  reportFailure,
  STDERR,
  STDOUT,
  usage,
  visible,
  writeText,
} from 'cordon/commands'
import type { CommandLine } from 'cordon/commands'

import { afterInstall } from './after-install.js'
import { CLIENTS, clientFiles } from '../clients/clients.js'
import type { ClientFile } from '../clients/clients.js'
import { readConfig, untouchedVersion, writeConfig } from '../clients/config-file.js'
import type { Change, ReadConfig } from '../clients/config-file.js'
import { DONE, WOULD_BE_DONE, linesOf } from './outcome.js'
import type { Outcome } from './outcome.js'
import { backupPath, forgetRemote, keepRemote, keptPath } from '../clients/remote-entry.js'
import type { KeptRemote } from '../clients/remote-entry.js'
import { SHARED_WORDS, nameOfEntry, readEntry, startFields, wrapped, wrappedRemote } from '../clients/server-entry.js'
import type { ReadEntry, ServerEntry, StartCommand, ThisCordon } from '../clients/server-entry.js'

const COMMAND = 'cordon mcp'
const EXIT_WRONG = 1

export type ClientAction = 'install' | 'uninstall' | 'list'

/** A server in a client's file. */
interface FoundServer {
  readonly file: ClientFile
  readonly name: string
  readonly place: ServerEntry['place']
  readonly entry: ReadEntry
}

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

/** `launcher`: starts a copy of this program. */
export const clientCommand = (
  action: ClientAction,
  { given: { switches, values, rest }, environment }: CommandLine,
  launcher: string,
): number => {
  const clients = clientsIn(action, rest.slice(1))
  const home = homeOf(environment)
  const files = clientFiles({ home, workspace: process.cwd(), environment }).filter(
    ({ client, scope }) =>
      (clients.length === 0 || clients.includes(client)) &&
      !(switches.has('user') && scope !== 'user') &&
      !(switches.has('project') && scope !== 'project'),
  )
  const names = values.get('server') ?? []
  const isDry = switches.has('dry-run')
  const wish = { names, cordon: { words: [launcher] as const, remotes: remotesFolderOf(environment, home) }, isDry }
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
  const unknown = names.filter((name) => !outcomes.some(({ server }) => server === name))
  if (switches.has('json'))
    print(
      JSON.stringify(
        {
          dryRun: isDry,
          servers: outcomes,
          problems: problems.map(({ code, message, fix }) => ({ code, message, fix })),
        },
        undefined,
        2,
      ),
    )
  else {
    const paint = paintFor(STDOUT, environment)
    const lines = linesOf(outcomes, files, isDry ? WOULD_BE_DONE : DONE, paint)
    for (const line of [...lines, ...afterInstall(outcomes, environment, { isDry })]) print(line)
  }
  for (const problem of problems) reportFailure(problem, environment)
  for (const name of unknown) writeText(STDERR, `cordon: no client has a server "${visible(name)}"\n`)
  return problems.length > 0 || unknown.length > 0 || (action !== 'list' && outcomes.length === 0) ? EXIT_WRONG : 0
}

const clientsIn = (action: ClientAction, words: readonly string[]): readonly string[] => {
  const unknown = words.find((word) => !CLIENTS.some((client) => client === word))
  if (unknown === undefined) return words
  throw usage(
    `there is no client "${visible(unknown)}"`,
    `${COMMAND} ${action}`,
    didYouMean(unknown, CLIENTS) ?? `clients: ${CLIENTS.join(', ')}`,
  )
}

interface Wish {
  /** Empty for all servers. */
  readonly names: readonly string[]
  readonly cordon: ThisCordon
  readonly isDry: boolean
}

const changeFile = (action: ClientAction, file: ClientFile, wish: Wish): readonly Outcome[] => {
  const config = readConfig(file)
  if (config === undefined) return []
  const found = config.entries
    .map((each) => ({ file, name: nameOfEntry(each), place: each.place, entry: readEntry(each, wish.cordon) }))
    .filter(({ name }) => wish.names.length === 0 || wish.names.includes(name))
  const written = file.scope === 'project' ? { ...wish.cordon, words: SHARED_WORDS } : wish.cordon
  const all = found.map((server) => ({ server, planned: planFor(action, server, written) }))
  const changing = all.flatMap(({ planned }) => planned ?? [])
  if (changing.length > 0 && !wish.isDry) carryOut(action, file, config, changing, wish.cordon)
  return all.map(({ server, planned }) => outcomeOf(server, planned, action))
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

/** Undefined if the server stays as it is. */
const planFor = (
  action: ClientAction,
  { file, name, place, entry }: FoundServer,
  cordon: ThisCordon,
): Planned | undefined => {
  const started = (start: StartCommand): Planned => ({ change: { place, fields: startFields(start) }, start })
  if (action === 'install' && entry.kind === 'bare') return started(wrapped(name, entry, cordon))
  if (action === 'uninstall' && entry.kind === 'wrapped') return started(entry.start)
  if (action === 'install' && entry.kind === 'bare-remote') {
    const { url, moved } = entry
    const path = keptPath(cordon.remotes, { file: file.path, place })
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

const STATES = {
  'bare': 'bare',
  'bare-remote': 'bare',
  'wrapped': 'wrapped',
  'wrapped-remote': 'wrapped',
  'other': 'other',
} as const

const outcomeOf = (
  { file: { client, scope, path }, name, entry }: FoundServer,
  planned: Planned | undefined,
  action: ClientAction,
): Outcome => {
  const now = entry.kind === 'bare' || entry.kind === 'wrapped' ? entry.start : undefined
  const start = planned === undefined ? now : planned.start
  return {
    client,
    scope,
    file: path,
    server: name,
    state: planned === undefined ? STATES[entry.kind] : action === 'install' ? 'installed' : 'uninstalled',
    command: start === undefined ? null : [start.command, ...start.args],
    url: entry.kind === 'bare-remote' ? entry.url : entry.kind === 'wrapped-remote' ? entry.kept.url : null,
    because: entry.kind === 'other' ? entry.because : null,
  }
}

const print = (line: string): void => {
  writeText(STDOUT, `${line}\n`)
}
