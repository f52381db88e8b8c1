import type { IncomingMessage } from 'node:http'
import { bodyBytes } from 'cordon/runtime'
import { isMapping } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import type { RequestFields } from '../store/index.js'
import { invalid } from './problem.js'

/** Deeper JSON could overflow the stack of its readers. */
const MOST_DEPTH = 100

/** The body of a request, a mapping in JSON. */
export const readBody = async (
  request: IncomingMessage,
  mostBytes: number,
  numbers: NumberForm,
): Promise<RequestFields> => {
  const { 'content-type': type = '', 'content-encoding': encoding, 'content-length': length } = request.headers
  // A form on a web page cannot send this type.
  if (!/^application\/json(?:;\s*charset=utf-8)?$/i.test(type))
    throw invalid('its Content-Type is not application/json')
  if (encoding !== undefined) throw invalid('its body has a Content-Encoding')
  if (length !== undefined && Number(length) > mostBytes) throw fail('request-too-large', { limit: mostBytes })
  return parseMapping(await bodyBytes(request, mostBytes), numbers)
}

/** According to Content-Length. Without it, the largest body. */
export const lengthOf = ({ headers }: IncomingMessage, mostBytes: number): number =>
  Math.min(
    /^\d{1,15}$/.test(headers['content-length'] ?? '') ? Number(headers['content-length']) : mostBytes,
    mostBytes,
  )

export const refuseBody = ({ headers }: IncomingMessage): void => {
  if (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')
    throw invalid('it has a body, and its method takes none')
}

/** A field of the path must not be in the body too. */
export const refuseTwice = (body: RequestFields, given: RequestFields): void => {
  const twice = Object.keys(given).find((name) => Object.hasOwn(body, name))
  if (twice !== undefined) throw invalid(`${twice} is in its path already`)
}

const parseMapping = (bytes: Buffer, numbers: NumberForm): RequestFields => {
  const text = decode(bytes)
  if (depthOf(text) > MOST_DEPTH) throw invalid(`its body is nested more than ${MOST_DEPTH} deep`)
  const value = parse(text)
  const unfit = unfitNumber(text, numbers)
  if (unfit !== undefined)
    throw invalid(
      `its body has the number ${unfit.slice(0, MOST_SHOWN)}, of which programs read another one; write it as a text`,
    )
  if (!isMapping(value)) throw invalid('its body is no mapping')
  return value
}

const MOST_SHOWN = 40

const decode = (bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalid('its body is no UTF-8')
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw invalid('its body is no JSON')
  }
}

/** The nesting depth of JSON. Strings are skipped. */
const depthOf = (text: string): number => {
  let depth = 0
  let deepest = 0
  let isInside = false
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]
    if (isInside) {
      if (letter === '\\') at += 1
      else if (letter === '"') isInside = false
    } else if (letter === '"') isInside = true
    else if (letter === '[' || letter === '{') deepest = Math.max(deepest, (depth += 1))
    else if (letter === ']' || letter === '}') depth -= 1
  }
  return deepest
}

/** `exact`: no digits are lost. `double`: any number within the range of a double, for measured values. */
type NumberForm = 'exact' | 'double'

/**
 * The first number of a text of JSON that is not of the form; undefined where all are. JSON.parse would change it:
 * 1e400 becomes Infinity, and 9007199254740993 another number. People would be shown something else than was sent.
 */
export const unfitNumber = (json: string, form: NumberForm): string | undefined => {
  for (let at = 0; at < json.length; at += 1) {
    const letter = json[at] ?? ''
    if (letter === '"') at = endOfString(json, at)
    else if (isDigit(letter) || letter === '-') {
      const begin = at
      while (at + 1 < json.length && isOfNumber(json[at + 1] ?? '')) at += 1
      const written = json.slice(begin, at + 1)
      if (!fits(written, form)) return written
    }
  }
  return undefined
}

const endOfString = (json: string, begin: number): number => {
  let at = begin + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at
}

const isDigit = (letter: string): boolean => letter >= '0' && letter <= '9'
const isOfNumber = (letter: string): boolean =>
  isDigit(letter) || letter === '.' || letter === 'e' || letter === 'E' || letter === '+' || letter === '-'

/** A double keeps this many digits of any number. */
const ALWAYS_KEPT = 15

const fits = (written: string, form: NumberForm): boolean => {
  if (written.length <= ALWAYS_KEPT && !/e/i.test(written)) return true
  const value = Number(written)
  return Number.isFinite(value) && (form === 'double' || digitsOf(written) === digitsOf(String(value)))
}

/** Its digits without noughts at either end, and where they stand: the same for every way to write a number. */
const digitsOf = (written: string): string => {
  const [, whole = '', fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(written) ?? []
  const digits = whole + fraction
  let [first, last] = [0, digits.length]
  while (digits[first] === '0') first += 1
  while (last > first && digits[last - 1] === '0') last -= 1
  return first === last ? '0' : `${digits.slice(first, last)}e${Number(power) - fraction.length + digits.length - last}`
}
