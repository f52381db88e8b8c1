import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

import { CordonError, fail } from '../../errors/index.js'
import { parseSize } from '../../policy/index.js'
import {
  CONNECTIONS,
  MOST_ANSWER_BYTES,
  STATEMENT_MS,
  isAnswered,
  parseListenAddress,
  serveStore,
} from '../../server/index.js'
import type { ServeSettings } from '../../server/index.js'
import { migrate, openPostgres } from '../../store/index.js'
import type { Engine } from '../../store/index.js'

import type { Arguments } from '../arguments.js'
import { parseScattered, usage } from '../arguments.js'
import type { CommandLine } from '../command-line.js'
import { STDERR, STDOUT, oneLine, paintFor, writeText } from '../text/console-text.js'
import { reportRefusal } from '../failure.js'
import { makeFirstTeam, tokenFileOf } from './first-team.js'
import type { FirstTeam } from './first-team.js'
import { renderHelp } from '../help.js'
import { SERVE_HELP } from './serve-help.js'
import { typedStore } from '../store/store-help.js'
import { openEngine, ownName, placeOf, socketOf } from '../store/store-options.js'
import { parseSpan } from '../text/time-words.js'
import { visibleWord } from '../text/visible-text.js'
import { version } from '../text/version.js'

const COMMAND = 'cordon serve'

export const serve = async ({ given: { rest: words }, environment }: CommandLine): Promise<number> => {
  try {
    const given = parseScattered(words, SERVE_HELP, COMMAND)
    if (given.switches.has('help')) {
      writeText(STDOUT, renderHelp(SERVE_HELP))
      return 0
    }
    if (given.rest.length > 0) throw usage(`it takes options only: ${given.rest.join(' ')}`, COMMAND)
    await requireUnserved(given, environment)
    const settings = settingsOf(given, environment)
    const ended = endingSignal()
    const first = firstTeamOf(given, settings.ownerName, environment)
    if (first !== undefined) await tellFirstTeam(settings.engine, first, given, environment)
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
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return reportRefusal(error, environment)
  }
}

const firstTeamOf = (
  { values }: Arguments,
  owner: string,
  environment: CommandLine['environment'],
): FirstTeam | undefined => {
  const [team, named, out] = ['init', 'agent', 'token-out'].map((name) => values.get(name)?.[0])
  if (team === undefined) {
    if (named !== undefined || out !== undefined) throw usage('--agent and --token-out go with --init TEAM', COMMAND)
    return undefined
  }
  const agent = named ?? 'agent-1'
  return { team, owner, agent, tokenFile: tokenFileOf(agent, out, environment) }
}

/** On stderr: what is on stdout is where it listens. */
const tellFirstTeam = async (
  engine: Engine,
  first: FirstTeam,
  { values }: Arguments,
  environment: CommandLine['environment'],
): Promise<void> => {
  const paint = paintFor(STDERR, environment)
  const { team, owner, agent, tokenFile } = first
  try {
    await migrate(engine)
    const isNew = await makeFirstTeam(engine, first)
    writeText(
      STDERR,
      isNew
        ? `${paint('green', 'created')} ` +
            `${oneLine(`${team}; ${owner} is its admin and operator, ${agent} its agent, with the token in ${tokenFile}`)}\n`
        : `cordon: ${oneLine(`the team ${team} is there already, and is left as it is; ${tokenAdvice(first, values)}`)}\n`,
    )
  } catch (error) {
    await engine.close()
    throw error
  }
}

const tokenAdvice = ({ agent, tokenFile }: FirstTeam, values: Arguments['values']): string =>
  existsSync(tokenFile)
    ? `the token of ${agent} is in ${tokenFile}`
    : `a new token: ${['cordon tokens create', visibleWord(agent), '--out', visibleWord(tokenFile), ...typedStore(values)].join(' ')}`

/** Whoever finds it served wants to know where, rather than that it is held. */
const requireUnserved = async ({ values }: Arguments, environment: CommandLine['environment']): Promise<void> => {
  const place = placeOf({ values }, { ...environment, CORDON_SERVER: undefined }, COMMAND)
  if (place.kind !== 'folder' || !(await isAnswered(socketOf(place.folder)))) return
  throw fail('listen-refused', {
    where: place.folder,
    problem: `it is served already, at unix:${socketOf(place.folder)}`,
    fix: `use that one: commands with --store ${place.folder} find it; to serve it otherwise end that one first`,
  })
}

/** A second one ends it at once, as it would any program. */
const endingSignal = (): Promise<void> =>
  new Promise((end) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        end()
      })
  })

const PRIVATE = 0o700
const CONNECT_MS = 10_000
const FEWEST_CONNECTIONS = 2
const MOST_CONNECTIONS = 1_000

const connectionsOf = (text: string | undefined): number => {
  const connections = text === undefined ? CONNECTIONS : /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  // One alone would be everybody's and nobody's.
  if (!(connections >= FEWEST_CONNECTIONS && connections <= MOST_CONNECTIONS))
    throw usage(
      `--connections needs a number from ${String(FEWEST_CONNECTIONS)} to ${String(MOST_CONNECTIONS)}: ${text ?? ''}`,
      COMMAND,
    )
  return connections
}

const mostAnswerOf = (text: string | undefined): number => {
  const bytes = text === undefined ? MOST_ANSWER_BYTES : parseSize(text)
  if (bytes === undefined) throw usage(`--max-answer needs a size such as 64M: ${text ?? ''}`, COMMAND)
  return bytes
}

const statementOf = (text: string | undefined): number => {
  const milliseconds = text === undefined ? STATEMENT_MS : parseSpan(text)
  if (milliseconds === undefined || milliseconds > 3_600_000)
    throw usage(`--statement-timeout needs a time such as 15s, at most 1h: ${text ?? ''}`, COMMAND)
  return milliseconds
}

const settingsOf = ({ values, switches }: Arguments, environment: CommandLine['environment']): ServeSettings => {
  const option = (name: string): string | undefined => values.get(name)?.[0]
  // A server of its own is no store to serve.
  const place = placeOf({ values }, { ...environment, CORDON_SERVER: undefined }, COMMAND)
  if (place.kind === 'server') throw usage('it serves a folder or a database', COMMAND)
  const [listen, body, cert, key] = [option('listen'), option('max-body'), option('tls-cert'), option('tls-key')]
  if ((cert === undefined) !== (key === undefined)) throw usage('--tls-cert and --tls-key go together', COMMAND)
  const mostBodyBytes = body === undefined ? undefined : parseSize(body)
  if (body !== undefined && mostBodyBytes === undefined)
    throw usage(`--max-body needs a size such as 16M: ${body}`, COMMAND)
  const limits = {
    connections: connectionsOf(option('connections')),
    statementMs: statementOf(option('statement-timeout')),
  }
  const named = option('socket')
  const socket = named === undefined ? (place.kind === 'folder' ? socketOf(place.folder) : undefined) : resolve(named)
  if (place.kind === 'folder' && socket !== undefined && named === undefined)
    mkdirSync(dirname(socket), { recursive: true, mode: PRIVATE })
  return {
    engine:
      place.kind === 'folder'
        ? openEngine(place)
        : openPostgres({
            url: place.url,
            connections: limits.connections,
            mostAnswerBytes: mostAnswerOf(option('max-answer')),
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
    ...(socket === undefined ? {} : { socket }),
    ...(listen === undefined ? {} : { listen: parseListenAddress(listen) }),
    ...(cert === undefined || key === undefined ? {} : { tls: { cert: read(cert), key: read(key) } }),
    ...(mostBodyBytes === undefined ? {} : { mostBodyBytes }),
    report: (error) => {
      writeText(
        STDERR,
        `cordon: ${oneLine(error instanceof CordonError ? `${error.code}: ${error.message}` : error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`,
      )
    },
  }
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw fail(
      'file-unreadable',
      { path, problem: error instanceof Error ? error.message : String(error), fix: 'name a file in PEM' },
      error,
    )
  }
}
