// Writes the ASN.1 types of certificates in DER (X.690).

const tagged = (tag: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])

const lengthOf = (length: number): Buffer => {
  if (length < 0x80) return Buffer.from([length])
  const bytes = Buffer.from(length.toString(16).padStart(length > 0xffff ? 6 : length > 0xff ? 4 : 2, '0'), 'hex')
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes])
}

export const sequence = (...items: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(items))
export const setOf = (item: Buffer): Buffer => tagged(0x31, item)
export const boolean = (isTrue: boolean): Buffer => tagged(0x01, Buffer.from([isTrue ? 0xff : 0]))
export const octets = (content: Buffer): Buffer => tagged(0x04, content)
export const text = (content: string): Buffer => tagged(0x0c, Buffer.from(content, 'utf8'))
/** `[number] EXPLICIT`: a tag before the whole value. */
export const explicit = (number: number, content: Buffer): Buffer => tagged(0xa0 | number, content)
/** `[number] IMPLICIT`: replaces the tag of a type without parts. */
export const implicit = (number: number, content: Buffer): Buffer => tagged(0x80 | number, content)

/** Non-negative, its highest byte first. */
export const integer = (bytes: Buffer): Buffer => {
  const first = bytes.findIndex((byte) => byte !== 0)
  const shortest = first === -1 ? Buffer.from([0]) : bytes.subarray(first)
  const isNegativeLooking = ((shortest[0] ?? 0) & 0x80) !== 0
  return tagged(0x02, isNegativeLooking ? Buffer.concat([Buffer.from([0]), shortest]) : shortest)
}

export const bits = (content: Buffer, unusedBits = 0): Buffer =>
  tagged(0x03, Buffer.concat([Buffer.from([unusedBits]), content]))

export const objectId = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

const base128 = (value: number): readonly number[] => {
  const digits = [value & 0x7f]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift((rest & 0x7f) | 0x80)
  return digits
}

/** UTCTime until 2049, GeneralizedTime from then on, as RFC 5280 demands. */
export const time = (date: Date): Buffer => {
  const digits = date
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:T]/g, '')
  return date.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits))
}
