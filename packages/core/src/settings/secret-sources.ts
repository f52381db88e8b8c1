// Where the values of credentials come from: the command line, the user's secrets.yaml, or an environment variable.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { exposedSource, parseSecretSource } from '../egress/index.js'
import type { SecretSource } from '../egress/index.js'
import { fail } from '../errors/index.js'
import { invalid, nearestKey, readDocument, rootNode } from '../policy/index.js'
import type { Credential, ToolPolicy } from '../policy/index.js'
import { readRuleFile, trustOf } from '../runtime/rule-files/index.js'
import { isMapping } from '../shapes/index.js'

import type { Environment } from '../line/arguments.js'
import type { LoadedPolicy } from './policy-file.js'

type Sources = ReadonlyMap<string, SecretSource>

interface SecretWords {
  /** `--secret ID=SOURCE` */
  readonly typed: readonly string[]
  /** Where typed paths begin. Undefined: the words are kept in the settings of another program. */
  readonly folder: string | undefined
  /** The folder of `secrets.yaml`. */
  readonly configFolder: string
  readonly environment: Environment
  /** The policies and the options of the run, combined. */
  readonly policy: ToolPolicy
}

/**
 * A source for every credential. Only trusted policies get values from the user's files. A policy that was named by its
 * path gets only typed ones, because its author chose the host that gets the value.
 */
export const secretSources = (policies: readonly LoadedPolicy[], words: SecretWords): Sources => {
  const credentials = policies.flatMap(({ policy, isVouched, whereIs }) =>
    policy.credentials.map((credential) => ({ credential, isVouched, at: whereIs('credentials', credential.id) })),
  )
  const typed = readTyped(
    words.typed,
    credentials.map(({ credential }) => credential.id),
    words.folder,
  )
  const kept = credentials.some(({ credential: { id }, isVouched }) => isVouched && !typed.has(id))
    ? readKept(words.configFolder)
    : new Map<string, SecretSource>()
  const sources = new Map(
    credentials.map(({ credential, isVouched, at }) => {
      const { id } = credential
      const source =
        typed.get(id) ?? (isVouched ? (kept.get(id) ?? ofVariable(credential, words.environment)) : undefined)
      if (source === undefined)
        throw missing(
          credential,
          { isVouched, at, kept: join(words.configFolder, NAME) },
          nearestKey(
            id,
            [...kept.keys()].filter((other) => !credentials.some((each) => each.credential.id === other)),
          ),
        )
      return [id, source] as const
    }),
  )
  refusePassing(sources, words)
  return sources
}

const refusePassing = (sources: Sources, { environment: host, policy: { environment } }: SecretWords): void => {
  const found = exposedSource(sources, environment.kind === 'list' ? environment.items : [], host)
  if (found !== undefined) throw fail('credential-exposed', { variable: found.variable, credential: found.id })
}

const FORMS = 'env:NAME, file:PATH, command:…, keyring:SERVICE/ACCOUNT or vault:MOUNT/PATH#FIELD'

interface Declared {
  readonly isVouched: boolean
  readonly at: string
  /** The path of the user's `secrets.yaml`. */
  readonly kept: string
}

const missing = (
  { id, placeholder }: Credential,
  { isVouched, at, kept }: Declared,
  near: string | undefined,
): Error => {
  if (!isVouched)
    return fail('credential-missing', {
      credential: id,
      problem: `${at} is not one of your own policies, so it gets only typed credentials`,
      fix: `name its source: --secret ${id}=SOURCE, which is ${FORMS}`,
    })
  const slip =
    near === undefined ? '' : `${kept} has "${near}", which is not used: if you mean it, write ${id} there; or `
  const variable = placeholder === undefined ? '' : `set ${placeholder.name}, or `
  return fail('credential-missing', {
    credential: id,
    problem: placeholder === undefined ? 'it has no source' : `the variable ${placeholder.name} is not set`,
    fix:
      `${slip}${variable}name its source: --secret ${id}=SOURCE, or "${id}: SOURCE" in ${kept}, where ` +
      `SOURCE is ${FORMS}`,
  })
}

/** The variable that has the stand-in in the cell. */
const ofVariable = ({ placeholder }: Credential, environment: SecretWords['environment']): SecretSource | undefined =>
  placeholder === undefined || (environment[placeholder.name] ?? '') === ''
    ? undefined
    : { kind: 'environment', name: placeholder.name }

const readTyped = (typed: readonly string[], known: readonly string[], folder: string | undefined): Sources =>
  new Map(
    typed.map((text) => {
      const [, id = '', source = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? []
      if (id === '')
        throw fail('usage-error', {
          problem: '--secret is not ID=SOURCE',
          fix: `write --secret my-token=SOURCE, where SOURCE is ${FORMS}`,
        })
      if (!known.includes(id)) {
        const near = nearestKey(id, known)
        throw fail('usage-error', {
          problem: `--secret ${id}: no policy of this run has this credential`,
          fix:
            near !== undefined
              ? `did you mean ${near}?`
              : known.length === 0
                ? 'name a policy that has credentials: --policy NAME'
                : `there are: ${[...new Set(known)].join(', ')}`,
        })
      }
      return [id, parseSecretSource(id, source, folder)]
    }),
  )

const NAME = 'secrets.yaml'

const readKept = (folder: string): Sources => {
  const path = join(folder, NAME)
  if (!existsSync(path)) return new Map()
  const user = process.geteuid?.() ?? 0
  const node = readDocument(readRuleFile(path, trustOf('user', user, user)), path)
  const value: unknown = node.value ?? {}
  if (!isMapping(value))
    throw invalid({ ...node, whole: NAME }, 'a mapping of ids to sources', `write it like my-token: env:MY_TOKEN`)
  return new Map(
    Object.entries(value).map(([id, source]) => {
      const place = rootNode(source, () => node.locate([id]), id)
      // Not shown, because it may be the value itself.
      if (typeof source !== 'string')
        throw fail('policy-invalid-value', {
          source: node.locate([id]),
          where: place.whole,
          expected: `one of ${FORMS}`,
          found: 'not a text',
          hint: `write it like ${id}: env:MY_TOKEN`,
        })
      return [id, parseSecretSource(id, source, undefined, node.locate([id]))]
    }),
  )
}
