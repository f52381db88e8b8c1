import { fail } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'
import { nearestKey } from '../policy/index.js'

/** One option of a command, as help shows it and as the command line is read. */
export interface Option {
  readonly name: string
  /** What stands for the value in help; without one the option is a switch. */
  readonly value?: string
  readonly repeatable?: boolean
  /** Other words that people try for it. */
  readonly meantBy?: readonly string[]
  readonly help: string
}

export interface Arguments {
  readonly switches: ReadonlySet<string>
  /** Every value given, in order, by the option's name. */
  readonly values: ReadonlyMap<string, readonly string[]>
  /** What follows the options. */
  readonly rest: readonly string[]
}

const HELP: Option = { name: 'help', help: 'show this' }

/**
 * Reads `--name value`, `--name=value` and switches, up to `--` or the first word that is no option:
 * from there on everything belongs to the command that is run.
 */
export const parseArguments = (words: readonly string[], options: readonly Option[], command: string): Arguments => {
  const switches = new Set<string>()
  const values = new Map<string, string[]>()
  let at = 0
  for (; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (word === '--') {
      at += 1
      break
    }
    if (!word.startsWith('-') || word === '-') break
    const [given, attached] = splitOnce(word === '-h' ? '--help' : word)
    const option = [HELP, ...options].find(({ name }) => `--${name}` === given)
    if (option === undefined) throw unknownOption(given, options, command)
    if (option.value === undefined) {
      if (attached !== undefined) throw usage(`--${option.name} takes no value`, command)
      switches.add(option.name)
      continue
    }
    const value = attached ?? words[(at += 1)]
    if (value === undefined || (attached === undefined && value.startsWith('--'))) throw usage(`--${option.name} needs a value: ${option.value}`, command)
    const before = values.get(option.name) ?? []
    if (before.length > 0 && option.repeatable !== true) throw usage(`--${option.name} is given twice`, command)
    values.set(option.name, [...before, value])
  }
  return { switches, values, rest: words.slice(at) }
}

/** The same with options anywhere among the words, for commands that start none. */
export const parseScattered = (words: readonly string[], { groups }: { readonly groups: readonly { readonly options: readonly Option[] }[] }, command: string): Arguments => {
  const options = groups.flatMap((group) => group.options)
  const switches = new Set<string>()
  const values = new Map<string, readonly string[]>()
  const rest: string[] = []
  for (let left = words; left.length > 0; ) {
    const read = parseArguments(left, options, command)
    for (const name of read.switches) switches.add(name)
    for (const [name, more] of read.values) values.set(name, [...(values.get(name) ?? []), ...more])
    rest.push(...read.rest.slice(0, 1))
    left = read.rest.slice(1)
  }
  return { switches, values, rest }
}

/** `fix`: the way out, where a shorter one than the help is known. */
export const usage = (problem: string, command: string, fix = `see: ${command} --help`): CordonError => fail('usage-error', { problem, fix })

/** The first word after a command that has actions is none of them. */
export const unknownAction = (word: string | undefined, known: readonly string[], command: string): CordonError => {
  if (word === undefined) return usage('no action is named', command, `say what to do: ${command} ${known.join('|')}`)
  const near = nearestKey(word, known)
  return usage(`there is no "${command} ${word}"`, command, near === undefined ? `say what to do: ${command} ${known.join('|')}` : `did you mean: ${command} ${near}?`)
}

const splitOnce = (word: string): readonly [string, string?] => {
  const equals = word.indexOf('=')
  return equals === -1 ? [word] : [word.slice(0, equals), word.slice(equals + 1)]
}

const unknownOption = (given: string, options: readonly Option[], command: string): CordonError => {
  const typed = given.replace(/^-+/, '')
  const near = options.find(({ meantBy }) => meantBy?.includes(typed) === true)?.name ?? nearestKey(typed, options.map(({ name }) => name))
  return fail('usage-error', { problem: `unknown option ${given}`, fix: near === undefined ? `see: ${command} --help` : `did you mean --${near}?` })
}
