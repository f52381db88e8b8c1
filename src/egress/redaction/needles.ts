import type { Needle } from './match-needle.js'

const identity = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const folded = (pairs: Readonly<Record<string, string>>): Uint8Array => {
  const fold = Uint8Array.from(identity)
  for (const [from, to] of Object.entries(pairs)) fold[from.charCodeAt(0)] = to.charCodeAt(0)
  return fold
}
const AS_IS = identity
const URL_ALPHABET = folded({ '-': '+', '_': '/' })
const LOWER_CASE = folded({ A: 'a', B: 'b', C: 'c', D: 'd', E: 'e', F: 'f' })

/**
 * What answers are searched for: the value, in hexadecimal, and in base64 at every alignment; each character in any
 * spelling.
 */
export const searchedNeedles = (value: string): readonly Needle[] => {
  const bytes = Buffer.from(value, 'latin1')
  if (bytes.length < SHORTEST_SECRET) return []
  const forms = value.includes(' ') ? [bytes, Buffer.from(value.replaceAll(' ', '+'), 'latin1')] : [bytes]
  return [
    ...forms.map((each): Needle => ({ bytes: each, fold: AS_IS, breaks: false, escapes: true })),
    { bytes: Buffer.from(bytes.toString('hex')), fold: LOWER_CASE, breaks: true, escapes: true },
    ...inBase64(bytes).map((text): Needle => ({
      bytes: Buffer.from(text),
      fold: URL_ALPHABET,
      breaks: true,
      escapes: true,
    })),
  ]
}

/** Texts as they are. */
export const literalNeedles = (texts: readonly Buffer[]): readonly Needle[] =>
  texts.map((bytes) => ({ bytes, fold: AS_IS, breaks: false, escapes: false }))

/**
 * Every way in which a value is usually written: as it is, and in the encodings of URLs, JSON, HTML, base64 and
 * hexadecimal.
 */
export const needlesOf = (value: string): readonly Buffer[] => {
  const bytes = Buffer.from(value, 'latin1')
  // A few characters would be found everywhere; no service gives out such keys.
  if (bytes.length < SHORTEST_SECRET) return []
  const text = bytes.toString('utf8')
  const spellings = [
    value,
    ...inUrls(bytes),
    ...inJson(text),
    inHtml(text, '&#39;'),
    inHtml(text, '&#x27;'),
    inHtml(text, '&apos;'),
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

/** What is shorter is part of many a text by chance. */
export const SHORTEST_SECRET = 6

/** With upper and lower hexadecimal digits, by the rules of a path, of a form, and of those who encode everything. */
const inUrls = (bytes: Buffer): readonly string[] => {
  const encode = (isPlain: RegExp, space: string): string =>
    Array.from(bytes, (byte) => {
      const character = String.fromCharCode(byte)
      if (character === ' ') return space
      return isPlain.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    }).join('')
  const forms = [
    encode(/[A-Za-z0-9\-_.!~*'()]/, '%20'),
    encode(/[A-Za-z0-9\-_.~]/, '%20'),
    encode(/[A-Za-z0-9\-_.*]/, '+'),
    encode(/[A-Za-z0-9\-_.~:/@!$&'()*+,;=]/, '%20'),
  ]
  return forms.flatMap((form) => [form, form.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())])
}

const asBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

const inJson = (text: string): readonly string[] => {
  const plain = JSON.stringify(text).slice(1, -1)
  const escaped = (pattern: RegExp, isUpper: boolean): string =>
    plain.replaceAll(pattern, (character) => {
      const digits = character.charCodeAt(0).toString(16).padStart(4, '0')
      return `\\u${isUpper ? digits.toUpperCase() : digits}`
    })
  // Go, PHP and Python escape more than they must, each its own part.
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
 * Base64 of anything that contains the value: three bytes become four characters, so there are three
 * ways, and in each the characters that also depend on the neighbours are left out.
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
