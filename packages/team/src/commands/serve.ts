// `cordon serve`: serves the registry of a store to other processes.
import { existsSync, readFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve, dirname, join } from 'node:path'
import {
  oneLine,
  paintFor,
  parseSpan,
  STDERR,
  STDOUT,
  usage as usageOf,
  version,
  visibleWord,
  writeText,
  stateFolderOf,
} from 'cordon/commands'
import type { Arguments, CommandLine, Environment } from 'cordon/commands'
import { CordonError, messageOf } from 'cordon/errors'
import { parseSize } from 'cordon/policy'
import { withoutUndefined } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { typedStore } from '../options/store-help.js'
import { makeStoreFolder, openEngine, ownName, placeOf, socketOf } from '../options/store-options.js'
import {
  CONNECTIONS,
  MOST_ANSWER_BYTES,
  STATEMENT_MS,
  isAnswered,
  parseListenAddress,
  serveStore,
} from '../server/index.js'
import type { ServeSettings } from '../server/index.js'
import { migrate, openPostgres, openDirectAccess, orClose } from '../store/index.js'
import type { Engine } from '../store/index.js'

const COMMAND = 'cordon serve'
const usage = (problem: string) => usageOf(problem, COMMAND)

export const serve = async ({ given, environment }: CommandLine): Promise<number> => {
  if (given.rest.length > 0) throw usage(`it takes options only: ${given.rest.join(' ')}`)
  await requireUnserved(given, environment)
  const settings = settingsOf(given, environment)
  const ended = endingSignal()
  const first = firstTeamOf(given, settings.ownerName, environment)
  if (first !== undefined) await tellFirstTeam(settings.engine, first, { given, environment })
  const served = await serveStore(settings)
  const paint = paintFor(STDOUT, environment)
  writeText(
    STDOUT,
    given.switches.has('json')
      ? `${JSON.stringify({ listening: served.addresses })}\n`
      : served.addresses.map((address) => `${paint('green', 'listening')} ${oneLine(address)}\n`).join(''),
  )
  await ended
  await served.close()
  return 0
}

const firstTeamOf = ({ values }: Arguments, owner: string, environment: Environment): FirstTeam | undefined => {
  const [team, named, out] = ['init', 'agent', 'token-out'].map((name) => values.get(name)?.[0])
  if (team === undefined) {
    if (named !== undefined || out !== undefined) throw usage('--agent and --token-out go with --init TEAM')
    return undefined
  }
  const agent = named ?? 'agent-1'
  return { team, owner, agent, tokenFile: tokenFileOf(agent, out, environment) }
}

/** On stderr, because stdout has the addresses. */
const tellFirstTeam = async (
  engine: Engine,
  first: FirstTeam,
  { given, environment }: Pick<CommandLine, 'given' | 'environment'>,
): Promise<void> => {
  const paint = paintFor(STDERR, environment)
  const { team, owner, agent, tokenFile } = first
  const isNew = await orClose(engine, async () => {
    await migrate(engine)
    return makeFirstTeam(engine, first)
  })
  writeText(
    STDERR,
    isNew
      ? `${paint('green', 'created')} ` +
          `${oneLine(`${team}; ${owner} is its admin and operator, ${agent} its agent, with the token in ${tokenFile}`)}\n`
      : `cordon: the team ${oneLine(`${team} exists already, and is left as it is; ${tokenAdvice(first, given.values)}`)}\n`,
  )
}

const tokenAdvice = ({ agent, tokenFile }: FirstTeam, values: Arguments['values']): string =>
  existsSync(tokenFile)
    ? `the token of ${agent} is in ${tokenFile}`
    : `a new token: ${['cordon team tokens create', visibleWord(agent), '--out', visibleWord(tokenFile), ...typedStore(values)].join(' ')}`

/** Says where a served store is served. Otherwise the error would only say that its folder is in use. */
const requireUnserved = async ({ values }: Arguments, environment: Environment): Promise<void> => {
  const place = placeOf({ values }, { ...environment, CORDON_SERVER: undefined }, COMMAND)
  if (place.kind !== 'folder' || !(await isAnswered(socketOf(place.folder)))) return
  throw fail('listen-refused', {
    where: place.folder,
    problem: `it is served already, at unix:${socketOf(place.folder)}`,
    fix: `use it: commands with --store ${place.folder} find it; to serve it in another way, end that server first`,
  })
}

/** A second signal kills the process, as usual. */
const endingSignal = (): Promise<void> =>
  new Promise((end) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        end()
      })
  })

const CONNECT_MS = 10_000
/** With one, a long request would block all others. */
const FEWEST_CONNECTIONS = 2
const MOST_CONNECTIONS = 1_000

const connectionsOf = (text: string | undefined): number => {
  const connections = text === undefined ? CONNECTIONS : /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (!(connections >= FEWEST_CONNECTIONS && connections <= MOST_CONNECTIONS))
    throw usage(
      `--connections needs a number from ${String(FEWEST_CONNECTIONS)} to ${String(MOST_CONNECTIONS)}: ${text ?? ''}`,
    )
  return connections
}

const statementOf = (text: string | undefined): number => {
  const milliseconds = text === undefined ? STATEMENT_MS : parseSpan(text)
  if (milliseconds === undefined || milliseconds > 3_600_000)
    throw usage(`--statement-timeout needs a time such as 15s, at most 1h: ${text ?? ''}`)
  return milliseconds
}

const settingsOf = ({ values, switches }: Arguments, environment: Environment): ServeSettings => {
  const option = (name: string): string | undefined => values.get(name)?.[0]
  const sizeOf = (name: string, example: string): number | undefined => {
    const text = option(name)
    const bytes = text === undefined ? undefined : parseSize(text)
    if (text !== undefined && bytes === undefined) throw usage(`--${name} needs a size such as ${example}: ${text}`)
    return bytes
  }
  // A server cannot be served.
  const place = placeOf({ values }, { ...environment, CORDON_SERVER: undefined }, COMMAND)
  if (place.kind === 'server') throw usage('it serves a folder or a database')
  const [listen, cert, key] = [option('listen'), option('tls-cert'), option('tls-key')]
  if ((cert === undefined) !== (key === undefined)) throw usage('--tls-cert and --tls-key go together')
  const mostBodyBytes = sizeOf('max-body', '16M')
  const limits = {
    connections: connectionsOf(option('connections')),
    statementMs: statementOf(option('statement-timeout')),
  }
  const named = option('socket')
  const ownSocket = place.kind === 'folder' ? socketOf(place.folder) : undefined
  if (place.kind === 'folder') makeStoreFolder(place.folder)
  return {
    engine:
      place.kind === 'folder'
        ? openEngine(place)
        : openPostgres({
            url: place.url,
            connections: limits.connections,
            mostAnswerBytes: sizeOf('max-answer', '64M') ?? MOST_ANSWER_BYTES,
            limits: {
              statementMs: limits.statementMs,
              lockMs: Math.ceil(limits.statementMs / 2),
              idleMs: limits.statementMs * 2,
              connectMs: CONNECT_MS,
            },
          }),
    ...limits,
    version: version(),
    ownerName: option('as') ?? ownName(environment),
    hosts: values.get('host') ?? [],
    allowsPlainHttp: switches.has('plain-http'),
    ...withoutUndefined({
      socket: named === undefined ? ownSocket : resolve(named),
      listen: listen === undefined ? undefined : parseListenAddress(listen),
      tls: cert === undefined || key === undefined ? undefined : { cert: read(cert), key: read(key) },
      mostBodyBytes,
    }),
    report: (error) => {
      writeText(STDERR, `cordon: ${oneLine(reportOf(error))}\n`)
    },
  }
}

const reportOf = (error: unknown): string => {
  if (error instanceof CordonError) return `${error.code}: ${error.message}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw fail('file-unreadable', { path, problem: messageOf(error), fix: 'name a file in PEM' }, error)
  }
}

/** The first team of a server: its owner is admin and operator, and one agent has a token in a file. */
interface FirstTeam {
  readonly team: string
  readonly owner: string
  readonly agent: string
  /** A new file for its token. */
  readonly tokenFile: string
}

/** False where the team exists already, and nothing is changed. The engine stays open. */
const makeFirstTeam = async (engine: Engine, { team, owner, agent, tokenFile }: FirstTeam): Promise<boolean> => {
  const { ask } = openDirectAccess(engine, { kind: 'somebody', actor: owner })
  const { teams } = await ask('whoAmI', {})
  if (teams.some((each) => each.team === team)) return false
  // Checked first: a token that cannot be written would be lost.
  if (existsSync(tokenFile)) throw unwritable(`${tokenFile} exists already`)
  await ask('foundTeam', { team, admin: owner })
  await ask('addMember', { team, actor: owner, kind: 'operator' })
  await ask('addMember', { team, actor: agent, kind: 'agent' })
  const { id, token } = await ask('createToken', { team, actor: agent })
  try {
    mkdirSync(dirname(tokenFile), { recursive: true, mode: 0o700 })
    writeFileSync(tokenFile, `${token}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    await ask('revokeToken', { id })
    throw unwritable(`it cannot be written: ${messageOf(error)}`, error)
  }
  return true
}

/** Not in the working directory, which tools may be granted to read. */
const tokenFileOf = (agent: string, named: string | undefined, environment: Environment): string =>
  named === undefined ? join(stateFolderOf(environment, homedir()), `${agent}.token`) : resolve(named)

const unwritable = (problem: string, cause?: unknown) =>
  fail('token-unsafe', { problem, fix: 'name a new file in a folder of yours: --token-out FILE' }, cause)
