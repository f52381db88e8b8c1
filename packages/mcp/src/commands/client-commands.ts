// `cordon mcp install | uninstall | list`: puts the servers in the files of clients behind Cordon, and takes them out.
import { didYouMean } from 'cordon/policy'
import {
  STDOUT,
  copyProgram,
  dataFolderOf,
  homeOf,
  launcherOf,
  paintFor,
  remotesFolderOf,
  reportFailure,
  usage,
  visible,
  visibleWord,
} from 'cordon/commands'
import type { CommandLine, Paint } from 'cordon/commands'

import { afterInstall } from '../clients/after-install.js'
import { changeClients } from '../clients/change-clients.js'
import type { ClientAction, Outcome } from '../clients/change-clients.js'
import { CLIENTS, clientFiles } from '../clients/clients.js'
import type { ClientFile } from '../clients/clients.js'
import { print, printJson, tell } from './print.js'

export const clientCommand = async (
  action: ClientAction,
  { given: { switches, values, rest }, environment }: CommandLine,
): Promise<number> => {
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
  const dataFolder = dataFolderOf(environment, home)
  // Clients with windows have no search path that leads to Node or to Cordon. A copy is outside of every project.
  if (action === 'install' && !isDry) await copyProgram(dataFolder)
  const cordon = { words: [launcherOf(dataFolder)], remotes: remotesFolderOf(environment, home) } as const
  const { outcomes, problems } = changeClients(action, files, { names, cordon, isDry })
  const unknown = names.filter((name) => !outcomes.some(({ server }) => server === name))
  if (switches.has('json')) {
    const told = problems.map(({ code, message, fix }) => ({ code, message, fix }))
    printJson({ dryRun: isDry, servers: outcomes, problems: told })
  } else {
    print(...linesOf(outcomes, files, isDry ? WOULD_BE_DONE : DONE, paintFor(STDOUT, environment)))
    print(...afterInstall(outcomes, environment, { isDry }))
  }
  for (const problem of problems) reportFailure(problem, environment)
  for (const name of unknown) tell(`no client has a server "${visible(name)}"`)
  return problems.length > 0 || unknown.length > 0 || (action !== 'list' && outcomes.length === 0) ? 1 : 0
}

const clientsIn = (action: ClientAction, words: readonly string[]): readonly string[] => {
  const unknown = words.find((word) => !CLIENTS.some((client) => client === word))
  if (unknown === undefined) return words
  throw usage(
    `there is no client "${visible(unknown)}"`,
    `cordon mcp ${action}`,
    didYouMean(unknown, CLIENTS) ?? `clients: ${CLIENTS.join(', ')}`,
  )
}

const DONE: Readonly<Record<Outcome['state'], string>> = {
  wrapped: 'uses Cordon',
  bare: 'does not use Cordon',
  other: 'not changed',
  installed: 'now uses Cordon',
  uninstalled: 'no longer uses Cordon',
}

const WOULD_BE_DONE: typeof DONE = {
  ...DONE,
  installed: 'would use Cordon',
  uninstalled: 'would no longer use Cordon',
}

const linesOf = (
  outcomes: readonly Outcome[],
  files: readonly ClientFile[],
  words: typeof DONE,
  paint: Paint,
): readonly string[] =>
  outcomes.length === 0
    ? [
        'No MCP server was found. Cordon looked in these files of clients:',
        ...files.map(({ path }) => `  ${visible(path)}`),
      ]
    : [...new Set(outcomes.map(({ file }) => file))].flatMap((path) => [
        paint('bold', visible(path)),
        ...outcomes
          .filter(({ file }) => file === path)
          .map(({ server, state, ...said }) => `  ${visibleWord(server)}: ${words[state]}${detailOf(said)}`),
      ])

const detailOf = ({ command, url, options, because }: Omit<Outcome, 'server' | 'state'>): string => {
  if (because !== null) return `, because ${visible(because)}`
  const words = url === null ? (command ?? []) : [url]
  const given = options.length === 0 ? '' : ` with ${options.map(visibleWord).join(' ')}`
  return `${given}: ${words.map(visibleWord).join(' ')}`
}
