// Where the values of credentials come from: the command line, the user's secrets.yaml, or an environment variable.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { exposedSource, parseSecretSource } from '../../egress/index.js'
import type { SecretSource } from '../../egress/index.js'
import { fail } from '../../errors/index.js'
import { invalid, nearestKey, readDocument, rootNode } from '../../policy/index.js'
import type { Credential, ToolPolicy } from '../../policy/index.js'
import { readRuleFile, trustOf } from '../../runtime/rule-files/index.js'

import type { LoadedPolicy } from './policy-file.js'

type Sources = ReadonlyMap<string, SecretSource>

export interface SecretWords {
  /** `--secret ID=SOURCE` */
  readonly typed: readonly string[]
  /** Where the user keeps `secrets.yaml`. */
  readonly configFolder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** All policies of the run, and what was typed, together. */
  readonly policy: ToolPolicy
}

/**
 * A source for every credential of these policies. What the user keeps is given to policies that the user stands
 * behind; a file that was only named by its path gets what is typed with it, because whoever wrote the file chose
 * the host that the value goes to.
 */
export const secretSources = (policies: readonly LoadedPolicy[], words: SecretWords): Sources => {
  const credentials = policies.flatMap(({ policy, isVouched, whereIs }) =>
    policy.credentials.map((credential) => ({ credential, isVouched, at: whereIs('credentials', credential.id) })),
  )
  const typed = readTyped(
    words.typed,
    credentials.map(({ credential }) => credential.id),
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
      problem: `${at} is not one of your own policies, so it is given only what is typed with it`,
      fix: `say where it comes from: --secret ${id}=SOURCE, which is ${FORMS}`,
    })
  const slip =
    near === undefined ? '' : `${kept} has "${near}", which nothing here uses: if that is meant, write ${id} there; or `
  const variable = placeholder === undefined ? '' : `set ${placeholder.name} here, or `
  return fail('credential-missing', {
    credential: id,
    problem:
      placeholder === undefined ? 'nobody said where it comes from' : `the variable ${placeholder.name} is not set`,
    fix:
      `${slip}${variable}say where it comes from: --secret ${id}=SOURCE, or "${id}: SOURCE" in ${kept}, where ` +
      `SOURCE is ${FORMS}`,
  })
}

/** The variable by whose name the tool finds the stand-in. */
const ofVariable = ({ placeholder }: Credential, environment: SecretWords['environment']): SecretSource | undefined =>
  placeholder === undefined || (environment[placeholder.name] ?? '') === ''
    ? undefined
    : { kind: 'environment', name: placeholder.name }

const readTyped = (typed: readonly string[], known: readonly string[]): Sources =>
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
          problem: `--secret ${id}: no policy of this run has a credential by that name`,
          fix:
            near !== undefined
              ? `did you mean ${near}?`
              : known.length === 0
                ? 'name a policy that has credentials: --policy NAME'
                : `there are: ${[...new Set(known)].join(', ')}`,
        })
      }
      return [id, parseSecretSource(id, source)]
    }),
  )

const NAME = 'secrets.yaml'

const readKept = (folder: string): Sources => {
  const path = join(folder, NAME)
  if (!existsSync(path)) return new Map()
  const user = process.geteuid?.() ?? 0
  const node = readDocument(readRuleFile(path, trustOf('user', user, user)), path)
  const value: unknown = node.value ?? {}
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid({ ...node, whole: NAME }, 'a mapping of ids to sources', `write it like my-token: env:MY_TOKEN`)
  return new Map(
    Object.entries(value as Readonly<Record<string, unknown>>).map(([id, source]) => {
      const place = rootNode(source, () => node.locate([id]), id)
      // What stands here by mistake may be the value itself.
      if (typeof source !== 'string')
        throw fail('policy-invalid-value', {
          source: node.locate([id]),
          where: place.whole,
          expected: `one of ${FORMS}`,
          found: 'something else than a text',
          hint: `write it like ${id}: env:MY_TOKEN`,
        })
      return [id, parseSecretSource(id, source)]
    }),
  )
}
