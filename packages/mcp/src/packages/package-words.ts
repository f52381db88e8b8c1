// The words that start a server from a package: `npx -y NAME`, `uvx NAME` and the like. Only known words count.
// Anything else of these programs is refused, because a guess could run another package.
import { basename, isAbsolute } from 'node:path'

import type { CordonError } from 'cordon/errors'

import { fail } from '../errors/errors.js'

export type PackageSource = 'npm' | 'pypi'

export interface PackageCall {
  readonly source: PackageSource
  readonly name: string
  /** A version, a range or a tag. Empty: the newest. */
  readonly wanted: string
  /** The program of the package. Undefined: the one that the package is for. */
  readonly program: string | undefined
  readonly args: readonly string[]
  /** `npx NAME` without `-y`, which may also mean a program of the project. */
  readonly mayBeLocal: boolean
}

interface Runner {
  /** The words that start it. */
  readonly words: readonly string[]
  readonly source: PackageSource
  /** Options without a value that change nothing here. */
  readonly silent: readonly string[]
  /** Options that name the package, if another word names the program. */
  readonly naming: readonly string[]
  readonly looksInProject?: true
}

const YES = ['-y', '--yes']
const QUIET = ['-q', '--quiet']

const RUNNERS: readonly Runner[] = [
  { words: ['npx'], source: 'npm', silent: [...YES, ...QUIET], naming: ['-p', '--package'], looksInProject: true },
  { words: ['npm', 'exec'], source: 'npm', silent: YES, naming: ['--package'], looksInProject: true },
  { words: ['npm', 'x'], source: 'npm', silent: YES, naming: ['--package'], looksInProject: true },
  { words: ['bunx'], source: 'npm', silent: [], naming: [] },
  { words: ['pnpm', 'dlx'], source: 'npm', silent: [], naming: ['--package'] },
  { words: ['uvx'], source: 'pypi', silent: QUIET, naming: ['--from'] },
  { words: ['uv', 'tool', 'run'], source: 'pypi', silent: QUIET, naming: ['--from'] },
  { words: ['pipx', 'run'], source: 'pypi', silent: [], naming: ['--spec'] },
]

/** Undefined if the words start no package. */
export const packageCallOf = (argv: readonly string[]): PackageCall | undefined => {
  const [program = '', ...rest] = argv
  // `./npx` is some other program.
  const named = isAbsolute(program) ? basename(program) : program
  const runner = RUNNERS.find(({ words }) => words.every((word, at) => [named, ...rest][at] === word))
  return runner === undefined ? undefined : readWords(runner, rest.slice(runner.words.length - 1))
}

const readWords = (runner: Runner, words: readonly string[]): PackageCall => {
  const left = [...words]
  let spec: string | undefined
  let isSaid = false
  while (left[0]?.startsWith('-') === true) {
    const word = left.shift() ?? ''
    if (word === '--') break
    const [option, inline] = word.startsWith('--') ? splitOnce(word, '=') : [word, undefined]
    if (runner.silent.includes(word)) isSaid ||= YES.includes(word)
    else if (runner.naming.includes(option) && spec === undefined) spec = inline ?? left.shift() ?? ''
    else throw unclear(runner, `it does not know ${word} here`, supported(runner))
  }
  const first = left.shift()
  if (first === undefined || first === '') throw unclear(runner, 'no package is named', supported(runner))
  // `npm exec NAME -- ARGS`: npm itself takes the first `--`.
  if (left[0] === '--' && runner.words[0] === 'npm') left.shift()
  if (spec !== undefined && !PROGRAM.test(first))
    throw unclear(runner, `${JSON.stringify(first)} is not the name of a program`, supported(runner))
  return {
    source: runner.source,
    ...READ[runner.source](spec ?? first, runner),
    program: spec === undefined ? undefined : first,
    args: left,
    mayBeLocal: runner.looksInProject === true && !isSaid && spec === undefined,
  }
}

const PROGRAM = /^\w[\w.-]*$/

const splitOnce = (word: string, mark: string): readonly [string, string | undefined] => {
  const at = word.indexOf(mark)
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

type NameAndVersion = Pick<PackageCall, 'name' | 'wanted'>

const readNpm = (spec: string, runner: Runner): NameAndVersion => {
  const at = spec.indexOf('@', 1)
  const [name, wanted] = at === -1 ? [spec, ''] : [spec.slice(0, at), spec.slice(at + 1)]
  if (!isNpmName(name) || (at !== -1 && !NPM_VERSION.test(wanted))) throw elsewhere(runner, spec)
  return { name, wanted }
}

const NPM_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i
/** A version, a range or a tag. No colon and no slash: those name other places. */
const NPM_VERSION = /^[\w.^~<>=*][\w.^~<>=*|+ -]*$/

/** Of npm's registry. A name never leads out of a folder. */
export const isNpmName = (name: string): boolean => name.length <= 214 && NPM_NAME.test(name)

const readPypi = (spec: string, runner: Runner): NameAndVersion => {
  const found = /^(?<name>[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?:(?:@|==)(?<wanted>[a-z0-9][a-z0-9.!+_-]*))?$/i.exec(spec)
  const { name, wanted = '' } = found?.groups ?? {}
  if (name === undefined) throw elsewhere(runner, spec)
  return { name: normalName(name), wanted: wanted === 'latest' ? '' : wanted }
}

/** PyPI has one package for all spellings. */
export const normalName = (name: string): string => name.toLowerCase().replaceAll(/[._-]+/g, '-')

const READ: Readonly<Record<PackageSource, (spec: string, runner: Runner) => NameAndVersion>> = {
  npm: readNpm,
  pypi: readPypi,
}

const supported = ({ words, silent, naming }: Runner): string => {
  const start = words.join(' ')
  const flags = silent.length === 0 ? '' : ` [${silent.join('|')}]`
  const other = naming.length === 0 ? '' : `, or ${start}${flags} ${naming.at(-1) ?? ''} NAME[@VERSION] PROGRAM ARGS…`
  return `write it as: ${start}${flags} NAME[@VERSION] ARGS…${other}`
}

const unclear = ({ words }: Runner, problem: string, fix: string): CordonError =>
  fail('mcp-package-unclear', { runner: words.join(' '), problem, fix })

const elsewhere = (runner: Runner, spec: string): CordonError =>
  unclear(
    runner,
    `${JSON.stringify(spec)} is not a package of the registry by its name and version`,
    'name a package of the registry (NAME or NAME@VERSION); install anything else (git, URL, folder) yourself, and ' +
      'name its program: cordon mcp --read FOLDER/** -- node FOLDER/server.js',
  )

/** As `.cordon/mcp.lock` names what these words mean. */
export const lockKeyOf = ({ source, name, wanted }: PackageCall): string =>
  `${source}:${name}${wanted === '' ? '' : `@${wanted}`}`

/** The words that a key of the lock stands for. The lock may be written by others. */
export const callOfKey = (key: string): PackageCall => {
  const [source, spec = ''] = splitOnce(key, ':')
  const runner = RUNNERS.find((each) => each.source === source)
  if (runner === undefined) {
    const fix = 'keys of mcp.lock begin with npm: or pypi:'
    throw fail('mcp-package-unclear', { runner: key, problem: 'it has no such source', fix })
  }
  const named = READ[runner.source](spec, runner)
  return { source: runner.source, ...named, program: undefined, args: [], mayBeLocal: false }
}
