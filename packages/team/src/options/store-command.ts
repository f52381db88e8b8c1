// What store commands have in common: actions, one connection, JSON or text, typed options.
import {
  idAmong,
  jsonLine,
  paintFor,
  parseSpan,
  renderTable,
  STDOUT,
  unknownAction,
  usage,
  writeText,
} from 'cordon/commands'
import type { Arguments, CommandHelp, CommandLine, Environment, Paint } from 'cordon/commands'
import { CordonError } from 'cordon/errors'

import { fail } from '../errors/errors.js'
import type { StoreAccess } from '../store/index.js'
import { typedStore } from './store-help.js'
import { withStore } from './store-options.js'

export interface CommandContext {
  readonly store: StoreAccess
  readonly team: () => Promise<string>
  readonly words: readonly string[]
  readonly values: Arguments['values']
  readonly switches: Arguments['switches']
  readonly environment: Environment
  readonly paint: Paint
  /** Prints the value with --json, and otherwise the text. The exit status is 0. */
  readonly print: (value: unknown, text: (paint: Paint) => string) => number
  /** Prints items, and otherwise a table with a row for each. */
  readonly printList: <Item>(
    items: readonly Item[],
    heads: readonly string[],
    rowOf: (item: Item) => readonly string[],
    nothing: string,
  ) => number
  readonly option: (name: string) => string | undefined
  /** An option that is a whole number within bounds. */
  readonly numberOption: (name: string, least: number, most: number) => number | undefined
  /** An option that is a time, in milliseconds. */
  readonly timeOption: (name: string, examples: string, leastMs?: number) => number | undefined
  /** The only word. */
  readonly oneWord: (problem: string, fix?: string) => string
  /** The id that the only word names. */
  readonly oneId: (
    what: string,
    listedBy: string,
    list: () => Promise<readonly (readonly string[])[]>,
  ) => Promise<string>
  readonly wrong: (problem: string, fix?: string) => CordonError
  /** A command to type next, for the same store and member. */
  readonly again: (words: string) => string
}

interface StoreCommand {
  readonly name: string
  readonly help: CommandHelp
  readonly actions: Readonly<Record<string, (context: CommandContext) => Promise<number>>>
  /** The action that creates a missing store. */
  readonly makesStore?: string
  /** Actions that need no store. */
  readonly apart?: Readonly<Record<string, (context: Pick<CommandContext, 'oneWord' | 'print'>) => Promise<number>>>
}

export const runStoreCommand = async (
  { name, help, actions, makesStore, apart = {} }: StoreCommand,
  { given, environment }: CommandLine,
): Promise<number> => {
  const { switches, values, rest } = given
  const command = `cordon ${name}`
  const [action, ...words] = rest
  const paint = paintFor(STDOUT, environment)
  const wrong = (problem: string, fix?: string) => usage(problem, command, fix)
  const option = (named: string): string | undefined => values.get(named)?.[0]
  const oneWord: CommandContext['oneWord'] = (problem, fix) => {
    const [word, ...more] = words
    if (word === undefined || more.length > 0) throw wrong(problem, fix)
    return word
  }
  const common = {
    oneWord,
    print: (value: unknown, text: (paint: Paint) => string) => {
      writeText(STDOUT, switches.has('json') ? jsonLine(value) : text(paint))
      return 0
    },
  }
  const alone = ownOf(apart, action)
  if (alone !== undefined) return alone(common)
  const act = ownOf(actions, action)
  if (act === undefined) throw unknownAction(action, [...Object.keys(apart), ...Object.keys(actions)], command)
  const perform = (store: StoreAccess, team: () => Promise<string>): Promise<number> =>
    act({
      ...common,
      store,
      team,
      words,
      values,
      switches,
      environment,
      paint,
      printList: (items, heads, rowOf, nothing) =>
        common.print(items, (out) => renderTable(heads, items.map(rowOf), out, nothing)),
      wrong,
      option,
      numberOption: (named, least, most) => {
        const text = option(named)
        const number = text === undefined || text.trim() === '' ? undefined : Number(text)
        if (text !== undefined && !(Number.isInteger(number) && Number(number) >= least && Number(number) <= most))
          throw wrong(`--${named} is a number from ${String(least)} to ${String(most)}, not ${text}`)
        return number
      },
      timeOption: (named, examples, leastMs = 0) => {
        const text = option(named)
        const ms = text === undefined ? undefined : parseSpan(text)
        if (text !== undefined && (ms === undefined || ms < leastMs))
          throw wrong(`--${named} needs a time such as ${examples}: ${text}`)
        return ms
      },
      oneId: (what, listedBy, list) => {
        const word = oneWord(`no ${what} is named, or more than one`, `name one by its id: ${listedBy} has them`)
        return idAmong(word, list, { what, listedBy, wrong })
      },
      again: (next) => ['cordon', next, ...typedStore(values)].join(' '),
    }).catch((error: unknown) => {
      throw inOptionWords(error, help, command)
    })
  return withStore({ given, environment }, command, perform, { makes: action === makesStore })
}

const ownOf = <Value>(record: Readonly<Record<string, Value>>, name: string | undefined): Value | undefined =>
  name !== undefined && Object.hasOwn(record, name) ? record[name] : undefined

/** Names the option where the store refuses a field, and the help instead of the document of the server. */
const inOptionWords = (error: unknown, help: CommandHelp, command: string): unknown => {
  if (!(error instanceof CordonError) || error.code !== 'request-invalid') return error
  const problem = String(error.params['problem'])
  const [field = ''] = /^\w+/.exec(problem) ?? []
  const isOption = help.groups.some(({ options }) => options.some(({ name }) => name === field))
  return fail('request-invalid', { problem: `${isOption ? '--' : ''}${problem}`, fix: `see: ${command} --help` }, error)
}
