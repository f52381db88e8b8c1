// File names are bytes. A byte that is not UTF-8 is carried in text as a lone surrogate (U+DC80 to U+DCFF), which no
// real text contains. It becomes the same byte again for the kernel.
import { readdirSync } from '../../platform/index.js'
import type { Dirent } from 'node:fs'

const REPLACEMENT = '\ufffd'
const LONE = /[\udc80-\udcff]/u
const FIRST_LONE = 0xdc00

export const textOfName = (bytes: Buffer): string => {
  const text = bytes.toString('utf8')
  if (!text.includes(REPLACEMENT) || Buffer.from(text).equals(bytes)) return text
  let result = ''
  for (let at = 0; at < bytes.length;) {
    const character = characterAt(bytes, at)
    result += character ?? String.fromCharCode(FIRST_LONE + (bytes[at] ?? 0))
    at += character === undefined ? 1 : Buffer.byteLength(character)
  }
  return result
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const characterAt = (bytes: Buffer, at: number): string | undefined => {
  for (let length = 1; length <= 4; length += 1) {
    try {
      return strict.decode(bytes.subarray(at, at + length))
    } catch {
      // Not a whole character yet, or none at all.
    }
  }
  return undefined
}

export const bytesOfName = (text: string): Buffer => {
  if (!LONE.test(text)) return Buffer.from(text)
  const parts = Array.from(text, (character) =>
    LONE.test(character) ? Buffer.of(character.charCodeAt(0) - FIRST_LONE) : Buffer.from(character),
  )
  return Buffer.concat(parts)
}

/** For node:fs, which would encode a lone surrogate as other bytes. */
export const pathFor = (text: string): string | Buffer => (LONE.test(text) ? bytesOfName(text) : text)

export interface NamedEntry {
  readonly name: string
  readonly entry: Dirent | Dirent<Buffer>
}

export const entriesIn = (folder: string): readonly NamedEntry[] => {
  const entries = readdirSync(pathFor(folder), { withFileTypes: true })
  if (!entries.some(({ name }) => name.includes(REPLACEMENT)))
    return entries.map((entry) => ({ name: entry.name, entry }))
  return readdirSync(pathFor(folder), { withFileTypes: true, encoding: 'buffer' }).map((entry) => ({
    name: textOfName(entry.name),
    entry,
  }))
}
