// What commands that speak to a store have in common: actions, options anywhere among the words, one connection, and
// the same exit status everywhere.
import { CordonError, fail } from '../../errors/index.js'
import type { StoreAccess } from '../../store/index.js'

import type { Arguments } from '../arguments.js'
import { parseScattered, unknownAction, usage } from '../arguments.js'
import type { CommandLine } from '../command-line.js'
import type { Paint } from '../text/console-text.js'
import { STDOUT, jsonLine, paintFor, writeText } from '../text/console-text.js'
import { reportRefusal } from '../failure.js'
import type { CommandHelp } from '../help.js'
import { renderHelp } from '../help.js'
import { typedStore } from './store-help.js'
import { openStore, teamOf } from './store-options.js'

/** What an action is given. */
export interface CommandContext {
  readonly store: StoreAccess
  readonly team: () => Promise<string>
  readonly words: readonly string[]
  readonly values: Arguments['values']
  readonly switches: Arguments['switches']
  readonly environment: CommandLine['environment']
  readonly paint: Paint
  /** One value, as JSON where that is wanted and otherwise as text. */
  readonly print: (value: unknown, text: (paint: Paint) => string) => void
  /** One value of an option that may be given once. */
  readonly option: (name: string) => string | undefined
  readonly wrong: (problem: string, fix?: string) => CordonError
  /** A command to type next, about the same store and in the same name. */
  readonly again: (words: string) => string
}

export interface StoreCommand {
  readonly name: string
  readonly help: CommandHelp
  readonly actions: Readonly<Record<string, (context: CommandContext) => Promise<number>>>
  /** The action that makes a store where there is none. */
  readonly makesStore?: string
  /** Those that need no store. */
  readonly apart?: Readonly<
    Record<string, (context: Pick<CommandContext, 'words' | 'wrong' | 'print'>) => Promise<number>>
  >
}

export const runStoreCommand = async (
  { name, help, actions, makesStore, apart = {} }: StoreCommand,
  { given, environment }: CommandLine,
): Promise<number> => {
  const command = `cordon ${name}`
  try {
    const { switches, values, rest } = parseScattered(given.rest, help, command)
    if (switches.has('help')) {
      writeText(STDOUT, renderHelp(help))
      return 0
    }
    const [word, ...words] = rest
    const paint = paintFor(STDOUT, environment)
    const common = {
      words,
      print: (value: unknown, text: (paint: Paint) => string) => {
        writeText(STDOUT, switches.has('json') ? jsonLine(value) : text(paint))
      },
      wrong: (problem: string, fix?: string) => usage(problem, command, fix),
    }
    const alone = word !== undefined && Object.hasOwn(apart, word) ? apart[word] : undefined
    if (alone !== undefined) return await alone(common)
    const action = word !== undefined && Object.hasOwn(actions, word) ? actions[word] : undefined
    if (action === undefined) throw unknownAction(word, [...Object.keys(apart), ...Object.keys(actions)], command)
    const store = await openStore({ values }, environment, command, { makes: word === makesStore })
    try {
      return await action({
        ...common,
        store,
        values,
        switches,
        environment,
        paint,
        team: () => teamOf(store, { values }, environment, command),
        option: (option) => values.get(option)?.[0],
        again: (next) => ['cordon', next, ...typedStore(values)].join(' '),
      })
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return reportRefusal(inOwnWords(error, help, command), environment)
  }
}

/**
 * A field that the store does not take, as the option that it was typed as; who types has no use for the document of
 * the server.
 */
const inOwnWords = (error: CordonError, help: CommandHelp, command: string): CordonError => {
  if (error.code !== 'request-invalid') return error
  const [field = ''] = /^\w+/.exec(error.params['problem'] as string) ?? []
  const isOption = help.groups.some(({ options }) => options.some(({ name }) => name === field))
  return fail(
    'request-invalid',
    { problem: `${isOption ? '--' : ''}${String(error.params['problem'])}`, fix: `see: ${command} --help` },
    error,
  )
}
