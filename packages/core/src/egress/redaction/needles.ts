import type { Needle } from './match-needle.js'

const AS_IS = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const folded = (pairs: Readonly<Record<string, string>>): Uint8Array => {
  const fold = Uint8Array.from(AS_IS)
  for (const [from, to] of Object.entries(pairs)) fold[from.charCodeAt(0)] = to.charCodeAt(0)
  return fold
}

const URL_ALPHABET = folded({ '-': '+', '_': '/' })
const LOWER_CASE = folded({ A: 'a', B: 'b', C: 'c', D: 'd', E: 'e', F: 'f' })

/** The needles for answers: the value, its hexadecimal form, and base64 at every alignment. */
export const searchedNeedles = (value: string): readonly Needle[] => {
  const bytes = Buffer.from(value, 'latin1')
  if (bytes.length < SHORTEST_SECRET) return []
  const forms = value.includes(' ') ? [bytes, Buffer.from(value.replaceAll(' ', '+'), 'latin1')] : [bytes]
  const encoded = (text: string, fold: Uint8Array): Needle => ({
    bytes: Buffer.from(text),
    fold,
    breaks: true,
    escapes: true,
  })
  return [
    ...forms.map((each): Needle => ({ bytes: each, fold: AS_IS, breaks: false, escapes: true })),
    encoded(bytes.toString('hex'), LOWER_CASE),
    ...inBase64(bytes).map((text) => encoded(text, URL_ALPHABET)),
  ]
}

export const literalNeedles = (texts: readonly Buffer[]): readonly Needle[] =>
  texts.map((bytes) => ({ bytes, fold: AS_IS, breaks: false, escapes: false }))

/** All usual spellings of a value: plain, and in URLs, JSON, HTML, base64 and hexadecimal. */
export const needlesOf = (value: string): readonly Buffer[] => {
  const bytes = Buffer.from(value, 'latin1')
  if (bytes.length < SHORTEST_SECRET) return []
  const text = bytes.toString('utf8')
  const spellings = [
    value,
    ...inUrls(bytes),
    ...inJson(text),
    ...['&#39;', '&#x27;', '&apos;'].map((apostrophe) => inHtml(text, apostrophe)),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ]
  const encoded = inBase64(bytes).flatMap((spelling) => [
    spelling,
    spelling.replaceAll('+', '-').replaceAll('/', '_'),
    ...(/[+/]/.test(spelling)
      ? [spelling.replaceAll('/', '\\/'), spelling.replaceAll('+', '%2B').replaceAll('/', '%2F')]
      : []),
  ])
  return [...new Set([...spellings, ...encoded])].map((spelling) => Buffer.from(spelling, 'latin1'))
}

/** Shorter values occur in many texts by chance. */
export const SHORTEST_SECRET = 6

/** By the rules of a path, of a form, and of encoders that escape everything, in upper and lower case. */
const inUrls = (bytes: Buffer): readonly string[] => {
  const forms = [
    percentEncoded(bytes, /[A-Za-z0-9\-_.!~*'()]/),
    percentEncoded(bytes, /[A-Za-z0-9\-_.~]/),
    percentEncoded(bytes, /[A-Za-z0-9\-_.* ]/).replaceAll(' ', '+'),
    percentEncoded(bytes, /[A-Za-z0-9\-_.~:/@!$&'()*+,;=]/),
  ]
  return forms.flatMap((form) => [form, form.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())])
}

export const percentEncoded = (bytes: Buffer, isPlain: RegExp): string =>
  Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte)
    return isPlain.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')

const asBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

const inJson = (text: string): readonly string[] => {
  const plain = JSON.stringify(text).slice(1, -1)
  const escaped = (pattern: RegExp, isUpper: boolean): string =>
    plain.replaceAll(pattern, (character) => {
      const digits = character.charCodeAt(0).toString(16).padStart(4, '0')
      return `\\u${isUpper ? digits.toUpperCase() : digits}`
    })
  // Go, PHP and Python escape more than needed, each differently.
  return [
    plain,
    plain.replaceAll('/', '\\/'),
    ...[/[^\x20-\x7e]/g, /[<>&]/g, /[<>&']/g, /[^\x20-\x7e]|[<>&]/g, /[^\x20-\x7e]|[<>&'+]/g].flatMap((pattern) => [
      escaped(pattern, false),
      escaped(pattern, true),
    ]),
  ].map(asBytes)
}

const inHtml = (text: string, apostrophe: string): string =>
  asBytes(
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", apostrophe),
  )

/**
 * Base64 of any text that contains the value. Three bytes become four characters, so there are three alignments.
 * Characters that depend on neighbours are left out.
 */
const inBase64 = (bytes: Buffer): readonly string[] =>
  [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replaceAll('=', '')
    const first = Math.ceil((shift * 8) / 6)
    const whole = Math.floor(((shift + bytes.length) * 8) / 6)
    const stable = encoded.slice(first, whole)
    return stable.length >= SHORTEST_SECRET ? [stable] : []
  })
