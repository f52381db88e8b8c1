// Parses the words of `cordon run`. Nothing is started.
import { resolve } from 'node:path'

import type { SecretSource } from '../../egress/index.js'
import { fail } from '../../errors/index.js'
import { MODES } from '../../gate/index.js'
import type { Mode } from '../../gate/index.js'
import { realPathOf, shellWord, statusAt } from '../../platform/index.js'
import { nearestKey, parseAbsolutePath, parsePolicy } from '../../policy/index.js'
import type { AbsolutePath, ToolPolicy } from '../../policy/index.js'
import type { OwnFile } from '../../runtime/own-files/index.js'
import type { Form } from '../../sandbox/index.js'

import type { Arguments } from '../../line/arguments.js'
import type { Caller } from '../../line/caller.js'
import { combinePolicies } from '../../settings/combine-policies.js'
import { readEgress } from '../../settings/egress-order.js'
import type { EgressOrder } from '../../settings/egress-order.js'
import { readOnly } from '../../settings/own-files.js'
import { configFolderOf, homeOf } from '../../settings/own-folders.js'
import { loadPolicy } from '../../settings/policy-file.js'
import type { LoadedPolicy } from '../../settings/policy-file.js'
import { BACKEND_WORDS, CONTAINER, FORM_WORDS, GRANTS, LIMITS, LIMIT_OPTIONS } from './run-options.js'

export interface RunOrder {
  readonly argv: readonly string[]
  readonly cwd: AbsolutePath
  readonly workspace: AbsolutePath
  readonly home: AbsolutePath
  readonly policy: ToolPolicy
  readonly backend: (typeof BACKEND_WORDS)[number]
  readonly form: Form | 'auto'
  /** The image whose program runs, in a container. Undefined for a program of this host. */
  readonly image: string | undefined
  /** Undefined: the first mode that is permitted. */
  readonly mode: Mode | undefined
  /** The typed grants, as the decision shows them. */
  readonly grants: readonly string[]
  readonly policySources: readonly string[]
  /** `--rules` */
  readonly ruleFiles: readonly string[]
  /** The files of policies, rules and certificates. */
  readonly ownFiles: readonly OwnFile[]
  readonly session: string | undefined
  readonly egress: EgressOrder
  /** The sources of credentials. */
  readonly secrets: ReadonlyMap<string, SecretSource>
}

const COMMAND = 'cordon run'

/** `words`: `kept` ones stand in the settings of another program, which uses them in many folders. */
export const parseRun = async (
  given: Arguments,
  caller: Caller,
  words: 'typed' | 'kept' = given.values.has('agent') ? 'kept' : 'typed',
): Promise<RunOrder> => {
  const all = (name: string): readonly string[] => given.values.get(name) ?? []
  const { order, policies } = parseOrder(given, caller)
  const { environment } = caller
  const { policy, home } = order
  const here = caller.folder()
  const [authorities] = all('upstream-ca').map((path) => resolve(here, path))
  const needsSecrets = policy.credentials.length > 0 || all('secret').length > 0
  return {
    ...order,
    egress: await readEgress(all('resolve'), authorities),
    secrets: needsSecrets
      ? (await import('../../settings/secret-sources.js')).secretSources(policies, {
          typed: all('secret'),
          folder: words === 'typed' ? here : undefined,
          configFolder: configFolderOf(environment, home),
          environment,
          policy,
        })
      : NO_SECRETS,
  }
}

const NO_SECRETS: RunOrder['secrets'] = new Map()
const NO_EGRESS: EgressOrder = { pins: new Map(), authorities: [] }

interface ParsedOrder {
  readonly order: RunOrder
  readonly policies: readonly LoadedPolicy[]
}

/** Without options of the proxy and without credentials. */
export const parseOrder = (given: Arguments, caller: Caller): ParsedOrder => {
  const first = (name: string): string | undefined => given.values.get(name)?.[0]
  const all = (name: string): readonly string[] => given.values.get(name) ?? []
  if (given.rest.length === 0)
    throw fail('usage-error', { problem: 'no command given', fix: 'cordon run [options] -- COMMAND…' })
  const { environment } = caller
  const here = caller.folder()
  const workspace =
    first('workspace') === undefined ? here : folderAt(resolve(here, first('workspace') ?? '.'), '--workspace')
  const home = homeOf(environment)
  const configFolder = configFolderOf(environment, home)
  const form = oneOf('form', first('form') ?? 'auto', FORM_WORDS)
  const image = imageIn(given)
  const backend = image === undefined ? backendIn(first('backend') ?? 'auto') : 'auto'
  const pathsOf = (name: string): readonly string[] => all(name).map((path) => resolve(here, path))
  const ruleFiles = pathsOf('rules')
  const files = all('policy').map((word) =>
    loadPolicy(word, { workspace, home, configFolder, ruleFiles, folder: here }),
  )
  const policy = combinePolicies(files, typedPolicy(given))
  const order: RunOrder = {
    argv: given.rest,
    cwd: folderAt(resolve(here, first('cwd') ?? '.'), '--cwd'),
    workspace,
    home,
    policy,
    form,
    backend,
    image,
    mode: first('mode') === undefined ? undefined : oneOf('mode', first('mode') ?? '', MODES),
    ruleFiles,
    ownFiles: [
      ...readOnly(
        files.map(({ path }) => path),
        'a policy of this run',
      ),
      ...readOnly(ruleFiles, 'a rule file of this run'),
      ...readOnly(pathsOf('upstream-ca'), 'what servers are trusted by'),
    ],
    session: first('session'),
    egress: NO_EGRESS,
    grants: GRANTING.flatMap((name) =>
      all(name).map((value) => `--${name} ${name === 'env' ? value.replace(/=.*/s, '=…') : value}`),
    ),
    policySources: files.map(({ source }) => source),
    secrets: NO_SECRETS,
  }
  return { order, policies: files }
}

/** Without policies, which the decision shows by their sources. */
const GRANTING = [...GRANTS, ...LIMITS].map(({ name }) => name).filter((name) => name !== 'policy')

/** Undefined without a container. Each of the two options needs the other. */
const imageIn = (given: Arguments): string | undefined => {
  const [backend] = given.values.get('backend') ?? []
  const [image] = given.values.get('image') ?? []
  const named = image === undefined || image === '' ? 'NAME' : image
  const refused = (problem: string) =>
    fail('usage-error', { problem, fix: `cordon run --backend container --image ${named} -- COMMAND…` })
  if (backend !== CONTAINER) {
    if (image !== undefined) throw refused('--image needs --backend container')
    return undefined
  }
  if (image === undefined || image === '') throw refused('--backend container needs an image')
  if (given.values.has('form')) throw refused('a cell in a container has one form, so --form has no meaning')
  return image
}

const backendIn = (word: string): (typeof BACKEND_WORDS)[number] => {
  if (!ENGINES.includes(word)) return oneOf('backend', word, BACKEND_WORDS, [CONTAINER])
  throw fail('usage-error', {
    problem: `${word} is a container engine, and no backend`,
    fix: 'cordon run --backend container --image NAME -- COMMAND… (DOCKER_HOST=unix:///path names the engine)',
  })
}

const ENGINES: readonly string[] = ['docker', 'podman']

/** `others`: words that are known too, and handled before. */
const oneOf = <Name extends string>(
  option: string,
  value: string,
  known: readonly Name[],
  others: readonly string[] = [],
): Name => {
  const found = known.find((name) => name === value)
  if (found !== undefined) return found
  const words = [...known, ...others]
  const near = nearestKey(value, words)
  throw fail('usage-error', {
    problem: `--${option} does not know ${JSON.stringify(value)}`,
    fix: near === undefined ? `one of: ${words.join(', ')}` : `did you mean ${near}?`,
  })
}

const folderAt = (path: string, option: string): AbsolutePath => {
  // A cell has only real folders, and no links to them.
  const real = realPathOf(path)
  if (real !== undefined && statusAt(real)?.isDirectory() === true) return parseAbsolutePath(real, option)
  throw fail('cwd-missing', { path })
}

/** Parses each option by itself, so that an error names it. */
const typedPolicy = (given: Arguments): ToolPolicy => {
  const all = (name: string): readonly string[] => given.values.get(name) ?? []
  const parse = (option: string, value: unknown): ToolPolicy => parsePolicy(value, `--${option}`)
  const none = parsePolicy({}, COMMAND)
  const section = (name: string): readonly string[] | 'none' | 'all' | undefined => wordOrList(name, all(name))
  const limits = Object.entries(LIMIT_OPTIONS).flatMap(([option, limit]) =>
    all(option).map(
      (text) => parse(option, { limits: { [limit]: limit === 'processes' ? numberOr(text) : text } }).limits,
    ),
  )
  return {
    ...none,
    filesystem: {
      read: parse('read', { filesystem: { read: listOrNothing(all('read')) } }).filesystem.read,
      write: parse('write', { filesystem: { write: listOrNothing(all('write')) } }).filesystem.write,
    },
    network: parse('net', { network: section('net') }).network,
    environment: parse('env', { environment: listOrNothing(all('env')) }).environment,
    exec: parse('exec', { exec: section('exec') }).exec,
    limits: Object.assign({}, ...limits) as ToolPolicy['limits'],
    presets: parse('preset', { presets: listOrNothing(all('preset')) }).presets,
    require: parse('require', { require: listOrNothing(all('require')) }).require,
  }
}

const numberOr = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text)

const listOrNothing = (items: readonly string[]): readonly string[] | undefined =>
  items.length === 0 ? undefined : items

const wordOrList = (option: string, items: readonly string[]): readonly string[] | 'none' | 'all' | undefined => {
  const word = items.find((item): item is 'none' | 'all' => item === 'none' || item === 'all')
  if (word === undefined) return listOrNothing(items)
  if (items.some((item) => item !== word))
    throw fail('usage-error', {
      problem: `--${option} ${word} cannot stand beside another --${option}`,
      fix: `leave one out: --${option} ${word}, or ${items
        .filter((item) => item !== word)
        .map((item) => `--${option} ${shellWord(item)}`)
        .join(' ')}`,
    })
  return word
}
