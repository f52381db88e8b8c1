// Reads one character in the spellings of URLs, JSON, JavaScript, HTML and quoted-printable. By hand and on bytes, for
// speed: every answer of a host with a credential passes here.

/** `=` at the end of a line of quoted-printable. */
export const SOFT_BREAK = 0x110000
/** More bytes are needed. */
export const UNFINISHED = -1
export const NO_ESCAPE = 0
/** The longest escape, which is `&amp;#x10ffff;`. */
export const LONGEST_ESCAPE = 14

const hexValues = new Int8Array(256).fill(-1)
for (let digit = 0; digit < 16; digit++)
  for (const character of [digit.toString(16), digit.toString(16).toUpperCase()])
    hexValues[character.charCodeAt(0)] = digit

export const isMarker = new Uint8Array(256)
for (const character of '%=\\&') isMarker[character.charCodeAt(0)] = 1

const AMP = Buffer.from('&amp;#')
const NAMED = (
  [
    ['amp;', '&'],
    ['lt;', '<'],
    ['gt;', '>'],
    ['quot;', '"'],
    ['apos;', "'"],
    ['sol;', '/'],
    ['plus;', '+'],
    ['equals;', '='],
    ['lowbar;', '_'],
    ['colon;', ':'],
  ] as const
).map(([name, character]) => ({ name: Buffer.from(name), value: character.charCodeAt(0) }))
const SIMPLE: ReadonlyMap<number, number> = new Map(
  [
    ['n', 10],
    ['r', 13],
    ['t', 9],
    ['/', 47],
    ['"', 34],
    ["'", 39],
    ['\\', 92],
  ].map(([name, value]) => [String(name).charCodeAt(0), Number(value)]),
)

const packed = (value: number, length: number): number => value * 16 + length
export const valueOf = (escape: number): number => escape >> 4
export const lengthOf = (escape: number): number => escape & 15

/** The escape at `at`: value and length packed into one number. */
export const escapeAt = (bytes: Buffer, at: number, end: number): number => {
  switch (bytes[at]) {
    case 0x25:
      return digitsAt(bytes, at + 1, end, 2, 3)
    case 0x3d:
      if (at + 1 < end && bytes[at + 1] === 0x0a) return packed(SOFT_BREAK, 2)
      if (at + 1 < end && bytes[at + 1] === 0x0d)
        return at + 2 >= end ? UNFINISHED : bytes[at + 2] === 0x0a ? packed(SOFT_BREAK, 3) : NO_ESCAPE
      return digitsAt(bytes, at + 1, end, 2, 3)
    case 0x5c:
      return at + 1 >= end ? UNFINISHED : backslashAt(bytes, at, end)
    case 0x26:
      return at + 1 >= end
        ? UNFINISHED
        : bytes[at + 1] === 0x23
          ? numberAt(bytes, at, at + 2, end)
          : nameAt(bytes, at, end)
    default:
      return NO_ESCAPE
  }
}

/** The same, encoded twice: `%2541`, `\\u0041`, `&amp;#65;`. */
export const nestedEscapeAt = (bytes: Buffer, at: number, end: number): number => {
  switch (bytes[at]) {
    case 0x25:
      return at + 2 < end && bytes[at + 1] === 0x32 && bytes[at + 2] === 0x35
        ? digitsAt(bytes, at + 3, end, 2, 5)
        : at + 2 < end
          ? NO_ESCAPE
          : UNFINISHED
    case 0x5c: {
      if (at + 1 >= end) return UNFINISHED
      const inner = bytes[at + 1] === 0x5c ? escapeAt(bytes, at + 1, end) : NO_ESCAPE
      return inner > 0 ? inner + 1 : inner
    }
    case 0x26:
      switch (startsWith(bytes, at, end, AMP)) {
        case 'whole':
          return numberAt(bytes, at, at + AMP.length, end)
        case 'part':
          return UNFINISHED
        case 'no':
          return NO_ESCAPE
      }
    default:
      return NO_ESCAPE
  }
}

const digitsAt = (bytes: Buffer, at: number, end: number, count: number, length: number, base = 16): number => {
  let value = 0
  for (let next = at; next < at + count; next++) {
    if (next >= end) return UNFINISHED
    const digit = hexValues[bytes[next] as number] as number
    if (digit < 0 || digit >= base) return NO_ESCAPE
    value = value * base + digit
  }
  return packed(value, length)
}

const backslashAt = (bytes: Buffer, at: number, end: number): number => {
  const next = bytes[at + 1] as number
  if (next === 0x75)
    return at + 2 < end && bytes[at + 2] === 0x7b ? bracedAt(bytes, at, end) : digitsAt(bytes, at + 2, end, 4, 6)
  if (next === 0x78) return digitsAt(bytes, at + 2, end, 2, 4)
  if (next >= 0x30 && next <= 0x33) return digitsAt(bytes, at + 1, end, 3, 4, 8)
  const value = SIMPLE.get(next)
  return value === undefined ? NO_ESCAPE : packed(value, 2)
}

/** `\u{41}` */
const bracedAt = (bytes: Buffer, at: number, end: number): number => {
  let value = 0
  for (let next = at + 3; next < at + 10; next++) {
    if (next >= end) return UNFINISHED
    if (bytes[next] === 0x7d) return next === at + 3 || value > 0x10ffff ? NO_ESCAPE : packed(value, next + 1 - at)
    const digit = hexValues[bytes[next] as number] as number
    if (digit < 0) return NO_ESCAPE
    value = value * 16 + digit
  }
  return NO_ESCAPE
}

/** `&#65;`, `&#x41;`, with or without the semicolon. */
const numberAt = (bytes: Buffer, at: number, digits: number, end: number): number => {
  if (digits >= end) return UNFINISHED
  const isHex = bytes[digits] === 0x78 || bytes[digits] === 0x58
  const base = isHex ? 16 : 10
  let value = 0
  for (let next = digits + (isHex ? 1 : 0); next - at < LONGEST_ESCAPE; next++) {
    if (next >= end) return UNFINISHED
    const digit = hexValues[bytes[next] as number] as number
    if (digit >= 0 && digit < base) {
      value = Math.min(value * base + digit, SOFT_BREAK)
      continue
    }
    const length = next - at + (bytes[next] === 0x3b ? 1 : 0)
    return next === digits + (isHex ? 1 : 0) || value >= SOFT_BREAK ? NO_ESCAPE : packed(value, length)
  }
  return NO_ESCAPE
}

const nameAt = (bytes: Buffer, at: number, end: number): number => {
  for (const { name, value } of NAMED) {
    const found = startsWith(bytes, at + 1, end, name)
    if (found === 'whole') return packed(value, name.length + 1)
    if (found === 'part') return UNFINISHED
  }
  return NO_ESCAPE
}

const startsWith = (bytes: Buffer, at: number, end: number, text: Buffer): 'whole' | 'part' | 'no' => {
  for (let next = 0; next < text.length; next++) {
    if (at + next >= end) return 'part'
    if (bytes[at + next] !== text[next]) return 'no'
  }
  return 'whole'
}
