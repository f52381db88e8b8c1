// Finds variables of a tool that contain a secret which the proxy withholds from it.
import type { Boundary } from '../../policy/index.js'
import { needlesOf } from '../redaction/needles.js'

import type { CredentialValue } from './draft.js'
import type { SecretSource } from './secret-source.js'
import { keptTexts } from './inject.js'

type Variables = Readonly<Record<string, string | undefined>>

export interface ExposedSecret {
  readonly id: string
  readonly variable: string
  /** Whether the secret comes from this variable, or is found in its text. */
  readonly how: 'source' | 'content'
}

/** Vault's token opens more than one credential. */
const OF_VAULT = 'VAULT_TOKEN'

export const variableOf = (source: SecretSource): string | undefined =>
  source.kind === 'environment' ? source.name : source.kind === 'vault' ? OF_VAULT : undefined

/** Checked before any value is read: a variable that is passed on is not a secret. */
export const exposedSource = (
  sources: ReadonlyMap<string, SecretSource>,
  environment: Boundary['environment'],
  host: Variables,
): ExposedSecret | undefined => {
  const passed = new Set(environment.filter(({ value }) => value.kind === 'pass').map(({ name }) => name))
  const named = [...sources].flatMap(([id, source]) => {
    const variable = variableOf(source)
    return variable === undefined ? [] : [{ id, variable }]
  })
  const direct = named.find(({ variable }) => passed.has(variable))
  if (direct !== undefined) return { ...direct, how: 'source' }
  return find(
    textsOf(environment, host),
    named.map(({ id, variable }) => ({
      id,
      texts: [asBytes((host[variable] ?? '').replace(/\r?\n$/, '')).toString('latin1')],
    })),
  )
}

/** Checked by the values. Placeholders are variables too. */
export const exposedValue = (
  valued: readonly CredentialValue[],
  environment: Boundary['environment'],
  host: Variables,
): ExposedSecret | undefined => {
  const standIns = valued.flatMap(({ credential: { placeholder } }) => placeholder ?? [])
  return find(
    [...textsOf(environment, host), ...standIns],
    valued.map((each) => ({ id: each.credential.id, texts: keptTexts(each) })),
  )
}

interface Given {
  readonly name: string
  readonly text: string
}

const textsOf = (environment: Boundary['environment'], host: Variables): readonly Given[] =>
  environment.flatMap(({ name, value }) => {
    const text = value.kind === 'set' ? value.text : host[name]
    return text === undefined ? [] : [{ name, text }]
  })

const find = (
  given: readonly Given[],
  secrets: readonly { readonly id: string; readonly texts: readonly string[] }[],
): ExposedSecret | undefined => {
  for (const { id, texts } of secrets) {
    const needles = texts.flatMap(needlesOf)
    const shown = given.find(({ text }) => needles.some((needle) => asBytes(text).includes(needle)))
    if (shown !== undefined) return { id, variable: shown.name, how: 'content' }
  }
  return undefined
}

const asBytes = (text: string): Buffer => Buffer.from(text, 'utf8')
