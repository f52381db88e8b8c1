import { canonicalJson, sizeOf } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'

import type { RecordedArguments } from './event.js'
import { REDACTED, isSecretName, redactText } from './redact.js'

export interface ArgumentSettings {
  /** `hash`: nothing but the hash. `redacted`: also the text, as far as it is no secret. */
  readonly arguments?: 'hash' | 'redacted'
  /** Has the last word on every text, after Cordon's own redaction. */
  readonly redact?: (text: string) => string
}

/** How much of a call is kept. */
export interface RecordSettings extends ArgumentSettings {
  /** Entries about the network that one call may have; what is beyond is summed up in one. */
  readonly egressEntries?: number
}

const MAX_TEXT = 4096
const MAX_STRING = 1024

export const recordArguments = (
  input: JsonValue,
  { arguments: kept = 'hash', redact = (text) => text }: ArgumentSettings = {},
): RecordedArguments => {
  const { hash, bytes } = sizeOf(input)
  if (kept === 'hash') return { hash, bytes }
  return {
    hash,
    bytes,
    text: cut(canonicalJson(withoutSecrets(input, (text) => redact(redactText(cut(text, MAX_STRING))))), MAX_TEXT),
  }
}

const withoutSecrets = (value: JsonValue, redact: (text: string) => string): JsonValue => {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutSecrets(item, redact))
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, isSecretName(key) ? REDACTED : withoutSecrets(child, redact)]),
  )
}

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length)}… (${String(text.length - length)} more)`
