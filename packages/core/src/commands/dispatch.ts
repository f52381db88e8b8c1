// The commands of `cordon`, and the choice of one by the first word.
import { CordonError, fail } from '../errors/index.js'
import { nearestKey } from '../policy/index.js'

import { parseArguments, parseScattered } from '../line/arguments.js'
import type { Environment } from '../line/arguments.js'
import { ownCaller } from '../line/caller.js'
import type { Caller, CommandLine } from '../line/caller.js'
import { reportFailure, reportRefusal } from '../line/failure.js'
import { renderHelp, renderList } from '../line/help.js'
import { STDOUT, writeText } from '../line/text/console-text.js'
import { version } from '../line/text/version.js'
import { PRODUCTS, loadProduct, loadProductIfAny, productOf } from '../products/installed-products.js'
import type { Command, CommandSource } from '../products/product.js'
import { COMMANDS, withSource } from './command-table.js'

const SUMMARIES: readonly (readonly [string, string])[] = [
  ...Object.entries(COMMANDS).map(([name, { help }]) => [name, help.summary] as const),
  ...Object.values(PRODUCTS).flatMap(({ commands }) => Object.entries(commands)),
]

const generalHelp = (): string =>
  [
    'usage: cordon COMMAND [options]',
    '',
    'Runs each tool call of an AI agent in its own sandbox, with exactly the rights that it was given.',
    '',
    ...renderList(SUMMARIES),
    '',
    '`cordon COMMAND --help` explains a command, `cordon --version` prints the version.',
    '',
  ].join('\n')

const print = (text: string): number => {
  writeText(STDOUT, text)
  return 0
}

const ownCommand = (name: string): Command | undefined => (Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined)

const HELP_WORDS: ReadonlySet<string | undefined> = new Set(['--help', '-h'])

/** The answer to words that ask only for help or the version. */
export const answerOf = ([name, ...words]: readonly string[]): string | undefined => {
  if (name === undefined || HELP_WORDS.has(name)) return generalHelp()
  if (name === '--version' || name === '-V' || name === '-v') return `cordon ${version()}\n`
  if (name === 'help') return words[0] === undefined ? generalHelp() : answerOf([words[0], '--help'])
  const command = ownCommand(name)
  // An installed package may add options to the help of the others.
  if (command === undefined || command.source !== undefined) return undefined
  return words.length === 1 && HELP_WORDS.has(words[0]) ? renderHelp(command.help) : undefined
}

/** Words whose answers bin/cordon.js prints without any other code, because scripts/bundle.mjs has written them. */
export const PREPARED_WORDS: readonly (readonly string[])[] = [
  ...[[], ['--help'], ['--version']],
  ...Object.keys(COMMANDS)
    .filter((name) => ownCommand(name)?.source === undefined)
    .map((name) => [name, '--help']),
]

interface Found {
  readonly name: string
  readonly command: Command
  readonly source: CommandSource | undefined
  readonly words: readonly string[]
}

/** The command for these words, of the core or of an installed package. */
const find = async (name: string, words: readonly string[]): Promise<Found> => {
  const product = productOf(name)
  const outer =
    product === undefined
      ? ownCommand(name)
      : (await loadProduct(product, `the command \`cordon ${name}\``)).commands[name]
  if (outer === undefined) throw unknown(name)
  const inner = outer.actions?.find((each) => each.words.includes(words[0] ?? ''))
  const command = inner?.command ?? outer
  const source = command.source === undefined ? undefined : (await loadProductIfAny('team'))?.sources?.[command.source]
  return inner?.isNamed === true
    ? { name: `${name} ${words[0] ?? ''}`, command, source, words: words.slice(1) }
    : { name, command, source, words }
}

const perform = async (given: readonly string[], caller: Caller): Promise<number> => {
  const answer = answerOf(given)
  if (answer !== undefined) return print(answer)
  const [first = '', ...rest] = given[0] === 'help' ? [...given.slice(1), '--help'] : given
  const { name, command, source, words } = await find(first, rest)
  const { load, takesWords = false } = command
  const help = withSource(command.help, source)
  try {
    const parsed = (takesWords ? parseScattered : parseArguments)(words, help, `cordon ${name}`)
    if (parsed.switches.has('help')) return print(renderHelp(help))
    const line: CommandLine = { ...caller, given: parsed }
    const answered = await (await source?.load?.())?.(line)
    return answered ?? (await (await load())(line))
  } catch (error) {
    if (!takesWords || !(error instanceof CordonError)) throw error
    return reportRefusal(error, caller.environment)
  }
}

const unknown = (name: string) => {
  const what = name.startsWith('-') ? 'option' : 'command'
  const known = what === 'option' ? ['help', 'version'] : SUMMARIES.map(([command]) => command)
  const near = nearestKey(name.replace(/^-+/, ''), known)
  const hint =
    near === undefined ? 'see: cordon --help' : `did you mean ${what === 'option' ? '--' : 'cordon '}${near}?`
  return fail('usage-error', { problem: `unknown ${what} ${name}`, fix: hint })
}

/**
 * Runs a command line, and prints errors on stderr. Returns the exit status. `front`: as what the native cordon was
 * started, if it was.
 */
export const dispatch = async (words: readonly string[], environment: Environment, front?: string): Promise<number> => {
  try {
    return await perform(words, ownCaller(environment, front))
  } catch (error) {
    return reportFailure(error, environment)
  }
}
