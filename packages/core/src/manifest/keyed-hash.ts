// Values that may be secrets stand in a manifest as hashes. They are keyed, because a short value could be guessed
// from a plain hash, and the key is not in the manifest (decision 43).
import { createHmac } from 'node:crypto'

/** 64 hexadecimal digits, in `.cordon/manifest.key` of a project. */
export type ManifestKey = string

const FORM = 'hmac-sha256:'

/** `what`: what the text is. The same text of something else has another hash. */
export const keyedHash = (key: ManifestKey, what: string, text: string): string =>
  `${FORM}${createHmac('sha256', Buffer.from(key, 'hex')).update(`${what}\0${text}`).digest('hex')}`

/** Whether a text of a manifest has such a hash. Only its key can make the same manifest again. */
export const hasKeyedHash = (text: string): boolean => text.includes(FORM)

export const isManifestKey = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)
