// Options of commands, as help shows them and as words are read.
import { parseArgs } from 'node:util'

import { fail } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'
import { nearestKey } from '../policy/index.js'

/** One option of a command, as help shows it and as the command line is read. */
export interface Option {
  readonly name: string
  /** The value as help names it. An option without one is a switch. */
  readonly value?: string
  readonly repeatable?: boolean
  /** Other words that people try for it. */
  readonly meantBy?: readonly string[]
  readonly help: string
}

export interface Arguments {
  readonly switches: ReadonlySet<string>
  /** By the name of the option, its values in order. */
  readonly values: ReadonlyMap<string, readonly string[]>
  /** The other words. */
  readonly rest: readonly string[]
}

/** An option with a value. `meantBy`: other words that people try for it, separated by blanks. */
export const value = (name: string, form: string, help: string, meantBy = ''): Option => ({
  ...flag(name, help, meantBy),
  value: form,
})

/** The same, and it may be given several times. */
export const values = (...option: Parameters<typeof value>): Option => ({ ...value(...option), repeatable: true })

/** An option without a value. */
export const flag = (name: string, help: string, meantBy = ''): Option => ({ name, help, meantBy: meantBy.split(' ') })

const HELP = flag('help', 'show this')

interface Options {
  readonly groups: readonly { readonly options: readonly Option[] }[]
}

/** Reads options up to `--` or the first other word. The rest is the command to run. */
export const parseArguments = (words: readonly string[], { groups }: Options, command: string): Arguments => {
  const options = groups.flatMap((group) => group.options)
  const end = endOfOptions(words, options, command, (word) => !word.startsWith('-') || word === '-')
  const rest = words.slice(words[end] === '--' ? end + 1 : end)
  const typed = words.slice(0, end)
  return { ...readOptions(tokensOf(typed, options), typed, options, command), rest }
}

/** Reads options anywhere among the words, for commands that start no other. */
export const parseScattered = (words: readonly string[], { groups }: Options, command: string): Arguments => {
  const options = groups.flatMap((group) => group.options)
  const end = endOfOptions(words, options, command, () => false)
  const typed = words.slice(0, end)
  const tokens = tokensOf(typed, options)
  const rest = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  return { ...readOptions(tokens, typed, options, command), rest: [...rest, ...words.slice(end + 1)] }
}

/**
 * Where the options end. parseArgs does not get the rest: it may be more words than parseArgs can take, and parseArgs
 * would split the letters after a single dash.
 */
const endOfOptions = (
  words: readonly string[],
  options: readonly Option[],
  command: string,
  isOther: (word: string) => boolean,
): number => {
  const valued = new Set(options.flatMap(({ name, value }) => (value === undefined ? [] : [`--${name}`])))
  let at = 0
  for (let word = words[at]; word !== undefined && word !== '--' && !isOther(word); word = words[at]) {
    if (/^-[^-]/.test(word) && word !== '-h') throw unknownOption(word.split('=')[0] ?? '', options, command)
    at += valued.has(word) ? 2 : 1
  }
  return Math.min(at, words.length)
}

type Token = ReturnType<typeof tokensOf>[number]

/** Not strict: errors come from below, with a fix. */
const tokensOf = (words: readonly string[], options: readonly Option[]) => {
  const known = options.map(({ name, value }) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const)
  const config = { help: { type: 'boolean', short: 'h' }, ...Object.fromEntries(known) } as const
  return parseArgs({ args: [...words], options: config, strict: false, allowPositionals: true, tokens: true }).tokens
}

const readOptions = (
  tokens: readonly Token[],
  words: readonly string[],
  options: readonly Option[],
  command: string,
): Omit<Arguments, 'rest'> => {
  const switches = new Set<string>()
  const values = new Map<string, readonly string[]>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const option = [HELP, ...options].find(({ name }) => name === token.name)
    if (option === undefined) throw unknownOption(words[token.index]?.split('=')[0] ?? '', options, command)
    if (option.value === undefined) {
      if (token.value !== undefined) throw usage(`--${option.name} takes no value`, command)
      switches.add(option.name)
      continue
    }
    if (token.value === undefined || (!token.inlineValue && token.value.startsWith('--')))
      throw usage(`--${option.name} needs a value: ${option.value}`, command)
    const before = values.get(option.name) ?? []
    if (before.length > 0 && option.repeatable !== true) throw usage(`--${option.name} is given twice`, command)
    values.set(option.name, [...before, token.value])
  }
  return { switches, values }
}

export const usage = (problem: string, command: string, fix = `see: ${command} --help`): CordonError =>
  fail('usage-error', { problem, fix })

export const unknownAction = (word: string | undefined, known: readonly string[], command: string): CordonError => {
  const near = word === undefined ? undefined : nearestKey(word, known)
  return usage(
    word === undefined ? 'no action is named' : `there is no "${command} ${word}"`,
    command,
    near === undefined ? `say what to do: ${command} ${known.join('|')}` : `did you mean: ${command} ${near}?`,
  )
}

const unknownOption = (given: string, options: readonly Option[], command: string): CordonError => {
  const typed = given.replace(/^-+/, '')
  const near =
    options.find(({ meantBy }) => meantBy?.includes(typed) === true)?.name ??
    nearestKey(
      typed,
      options.map(({ name }) => name),
    )
  return usage(`unknown option ${given}`, command, near === undefined ? undefined : `did you mean --${near}?`)
}

export type Environment = Readonly<Record<string, string | undefined>>
