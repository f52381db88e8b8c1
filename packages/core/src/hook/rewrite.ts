// Turns a shell command of an agent into a `cordon run` of the same command.
import { quotedWord } from '../platform/index.js'
import { parseAbsolutePath } from '../policy/index.js'

import type { Arguments, Environment } from '../line/arguments.js'
import type { Caller } from '../line/caller.js'
import { homeOf } from '../settings/own-folders.js'
import { configFolderOf } from '../settings/own-folders.js'
import { findPolicies } from '../settings/policy-sources.js'
import { EGRESS, GRANTS, LIMITS } from '../run/request/run-options.js'
import { commandWords, startedWords, withoutSteering } from './installed-command.js'

/** The policy of the user or the project that counts if no other is named. */
const DEFAULT_POLICY = 'agent'
const DEFAULT_PRESETS = ['workspace', 'toolchains']
/** A cell confines commands, so nobody is asked about one unless a rule asks. */
const DEFAULT_MODE = 'on_failure'

/** Options of `cordon run` that `cordon hook` passes on. */
export const PASSED_ON = [...GRANTS, ...LIMITS, ...EGRESS]

type RunOptions = Arguments['values']

/** The options of the run that a shell command becomes: those of the hook, and its defaults. */
export const runOptions = (
  agent: string,
  given: Arguments,
  workspace: string,
  environment: Environment,
): RunOptions => {
  const all = (name: string): readonly string[] => given.values.get(name) ?? []
  const options: readonly (readonly [string, readonly string[]])[] = [
    ['workspace', [workspace]],
    ['preset', all('preset').length > 0 ? [] : DEFAULT_PRESETS],
    ['policy', all('policy').length > 0 ? [] : defaultPolicies(given, workspace, environment)],
    ...PASSED_ON.map(({ name }) => [name, all(name)] as const),
    ['mode', [all('mode')[0] ?? DEFAULT_MODE]],
    ['rules', all('rules')],
    ['agent', [agent]],
  ]
  return new Map(options.filter(([, values]) => values.length > 0))
}

const defaultPolicies = (given: Arguments, workspace: string, environment: Environment): readonly string[] => {
  const home = homeOf(environment)
  const found = findPolicies({
    workspace: parseAbsolutePath(workspace, 'the workspace'),
    home,
    configFolder: configFolderOf(environment, home),
    folder: workspace,
    ruleFiles: given.values.get('rules') ?? [],
  })
  const named = found.filter(({ name, source }) => name === DEFAULT_POLICY && source !== 'bundled')
  return [...new Set(named.map(({ source }) => `${source}:${DEFAULT_POLICY}`))]
}

/**
 * Starts this very Cordon: the PATH of the agent's shell may have another one, or none. `session`: in which the
 * person's answer to the agent's question is kept.
 */
export const rewritten = (
  options: RunOptions,
  command: string,
  session: string | undefined,
  caller: Pick<Caller, 'startedAs' | 'isFronted'>,
): string =>
  [
    ...withoutSteering(startedWords(caller)),
    ...['run', ...wordsOf(options)],
    ...(session === undefined ? [] : ['--session', session]),
    ...['--', ...commandWords(command)],
  ]
    .map(quotedWord)
    .join(' ')

/** A value that begins with dashes is read only within the word of its option. */
const wordsOf = (options: RunOptions): readonly string[] =>
  Array.from(options).flatMap(([name, values]) =>
    values.flatMap((value) => (value.startsWith('--') ? [`--${name}=${value}`] : [`--${name}`, value])),
  )
