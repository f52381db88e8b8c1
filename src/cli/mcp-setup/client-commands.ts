// `cordon mcp install | uninstall | list`: puts the servers in the files of clients behind Cordon, and takes them out.
import { CordonError } from '../../errors/index.js'
import { didYouMean } from '../../policy/index.js'

import { usage } from '../arguments.js'
import type { CommandLine } from '../command-line.js'
import { reportFailure } from '../failure.js'
import { homeOf } from '../settings/own-folders.js'
import { STDERR, STDOUT, paintFor, writeText } from '../text/console-text.js'
import { visible, visibleWord } from '../text/visible-text.js'

import { CLIENTS, clientFiles } from './clients.js'
import type { ClientFile } from './clients.js'
import { readConfig, writeConfig } from './config-file.js'
import type { Change, ReadConfig } from './config-file.js'
import { nameOfEntry, readEntry, wrapped } from './server-entry.js'
import type { ReadEntry, ServerEntry, StartCommand } from './server-entry.js'

const COMMAND = 'cordon mcp'
const EXIT_WRONG = 1

export type ClientAction = 'install' | 'uninstall' | 'list'

/** A server as a client starts it. */
interface FoundServer {
  readonly file: ClientFile
  readonly name: string
  readonly place: ServerEntry['place']
  readonly entry: ReadEntry
}

/** What became of it. `wrapped` and `bare` say what it is, `installed` and `uninstalled` what was done. */
interface Outcome {
  readonly client: string
  readonly file: string
  readonly server: string
  readonly state: 'wrapped' | 'bare' | 'other' | 'installed' | 'uninstalled'
  readonly command: readonly string[] | null
  readonly because: string | null
}

/** `cordon`: the words that start this program. */
export const clientCommand = (
  action: ClientAction,
  { given: { switches, values, rest }, environment }: CommandLine,
  cordon: readonly [string, ...string[]],
): number => {
  const clients = clientsIn(action, rest.slice(1))
  const files = clientFiles({
    home: homeOf(environment),
    workspace: process.cwd(),
    environment,
  }).filter(
    ({ client, scope }) =>
      (clients.length === 0 || clients.includes(client)) &&
      !(switches.has('user') && scope !== 'user') &&
      !(switches.has('project') && scope !== 'project'),
  )
  const names = values.get('server') ?? []
  const problems: CordonError[] = []
  const outcomes = files.flatMap((file) => {
    try {
      return changeFile(action, file, { names, cordon, isDry: switches.has('dry-run') })
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
        { servers: outcomes, problems: problems.map(({ code, message, fix }) => ({ code, message, fix })) },
        undefined,
        2,
      ),
    )
  else show(outcomes, files, paintFor(STDOUT, environment))
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
  readonly cordon: readonly [string, ...string[]]
  readonly isDry: boolean
}

const changeFile = (action: ClientAction, file: ClientFile, wish: Wish): readonly Outcome[] => {
  const config = readConfig(file)
  if (config === undefined) return []
  const found = serversOf(file, config, wish.cordon).filter(
    ({ name }) => wish.names.length === 0 || wish.names.includes(name),
  )
  const planned = found.map((server) => ({
    server,
    start: action === 'list' ? undefined : nextOf(action, server, wish),
  }))
  const changes = planned.flatMap(({ server: { place }, start }): readonly Change[] =>
    start === undefined ? [] : [{ place, start }],
  )
  if (changes.length > 0 && !wish.isDry) writeConfig(file, config, changes)
  return planned.map(({ server, start }) => outcomeOf(server, start, action))
}

const serversOf = (file: ClientFile, { entries }: ReadConfig, cordon: Wish['cordon']): readonly FoundServer[] =>
  entries.map((each) => ({ file, name: nameOfEntry(each), place: each.place, entry: readEntry(each, cordon) }))

/** Undefined if it stays as it is. */
const nextOf = (
  action: Exclude<ClientAction, 'list'>,
  { name, entry }: FoundServer,
  { cordon }: Wish,
): StartCommand | undefined => {
  if (action === 'install') return entry.kind === 'bare' ? wrapped(name, entry, cordon) : undefined
  return entry.kind === 'wrapped' ? entry.start : undefined
}

const outcomeOf = (
  { file: { client, path }, name, entry }: FoundServer,
  next: StartCommand | undefined,
  action: ClientAction,
): Outcome => {
  const start = next ?? (entry.kind === 'other' ? undefined : entry.start)
  return {
    client,
    file: path,
    server: name,
    state: next === undefined ? entry.kind : action === 'install' ? 'installed' : 'uninstalled',
    command: start === undefined ? null : [start.command, ...start.args],
    because: entry.kind === 'other' ? entry.because : null,
  }
}

const WORDS: Readonly<Record<Outcome['state'], string>> = {
  wrapped: 'behind Cordon',
  bare: 'not behind Cordon',
  other: 'left alone',
  installed: 'now behind Cordon',
  uninstalled: 'no longer behind Cordon',
}

const show = (outcomes: readonly Outcome[], files: readonly ClientFile[], paint: ReturnType<typeof paintFor>): void => {
  if (outcomes.length === 0) {
    print('No client has an MCP server. Looked in:')
    for (const { path } of files) print(`  ${visible(path)}`)
  }
  for (const file of new Set(outcomes.map((each) => each.file))) {
    print(paint('bold', visible(file)))
    for (const { server, state, command, because } of outcomes.filter((each) => each.file === file))
      print(
        `  ${visibleWord(server)}: ${WORDS[state]}` +
          (because === null ? `: ${(command ?? []).map(visibleWord).join(' ')}` : `, because ${because}`),
      )
  }
}

const print = (line: string): void => {
  writeText(STDOUT, `${line}\n`)
}
