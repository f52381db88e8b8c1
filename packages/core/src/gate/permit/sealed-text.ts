// A value that leaves the process: its canonical JSON with a keyed hash. Without the key nobody can change it or make
// another.
import { createHmac, timingSafeEqual } from 'node:crypto'

import { readBoundedJson } from '../input/bounded-json.js'
import { canonicalJson } from '../input/canonical-json.js'
import type { JsonValue } from '../input/json-value.js'

const MIN_KEY_BYTES = 32
const NO_LIMITS = { bytes: Infinity, elements: Infinity, depth: Infinity }

/** `form`: the kind of the value and its version. A text of another form is refused. */
export const sealText = (form: string, value: JsonValue, key: Uint8Array): string => {
  const payload = Buffer.from(canonicalJson(value)).toString('base64url')
  return `${form}.${payload}.${signatureOf(form, payload, key).toString('base64url')}`
}

export type OpenedText =
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'refused'; readonly problem: 'malformed' | 'forged' }

export const openText = (form: string, text: string, key: Uint8Array): OpenedText => {
  const [given, payload = '', signature = '', ...rest] = text.split('.')
  if (given !== form || rest.length > 0) return { kind: 'refused', problem: 'malformed' }
  const expected = signatureOf(form, payload, key)
  const sealed = Buffer.from(signature, 'base64url')
  if (sealed.length !== expected.length || !timingSafeEqual(sealed, expected))
    return { kind: 'refused', problem: 'forged' }
  const read = readBoundedJson(Buffer.from(payload, 'base64url'), NO_LIMITS, 'unique')
  return read.kind === 'json' ? { kind: 'value', value: read.value } : { kind: 'refused', problem: 'malformed' }
}

const signatureOf = (form: string, payload: string, key: Uint8Array): Buffer => {
  if (key.length < MIN_KEY_BYTES) throw new RangeError(`a key has at least ${MIN_KEY_BYTES} bytes`)
  return createHmac('sha256', key).update(`${form}.${payload}`).digest()
}
