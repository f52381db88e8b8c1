import { canonicalJson, sizeOf } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'

import type { RecordedArguments } from './event.js'
import { REDACTED, cut, isSecretName, redactText } from './redact.js'

export interface ArgumentSettings {
  /** `hash`: only the hash. `redacted`: also the text, without secrets. */
  readonly arguments?: 'hash' | 'redacted'
  /** Redacts every text further, after Cordon's own redaction. */
  readonly redact?: (text: string) => string
}

export interface RecordSettings extends ArgumentSettings {
  /** The number of network events that one call may have. The rest is summed up in one. */
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
