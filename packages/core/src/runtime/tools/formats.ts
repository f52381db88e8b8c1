// The formats of JSON Schema that input is checked for. All are read in linear time. Others are annotations, as the
// specification says.
import { isIPv4, isIPv6 } from 'node:net'

type IsFormat = (text: string) => boolean

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

const isLeapYear = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

const isDate: IsFormat = (text) => {
  const [year, month, day] = /^\d{4}-\d{2}-\d{2}$/.test(text) ? text.split('-').map(Number) : []
  if (year === undefined || month === undefined || day === undefined) return false
  const days = month === 2 && !isLeapYear(year) ? 28 : (DAYS[month - 1] ?? 0)
  return day >= 1 && day <= days
}

const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:z|([+-])(\d{2}):(\d{2}))$/i

const isTime: IsFormat = (text) => {
  const found = TIME.exec(text)
  if (found === null) return false
  const [hour = 0, minute = 0, second = 0] = found.slice(1, 4).map(Number)
  const [offsetHour = 0, offsetMinute = 0] = (found[5] === undefined ? [] : found.slice(5)).map(Number)
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  // A leap second is the last one of a day in UTC.
  const offset = (found[4] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute)
  return second === 60 && (hour * 60 + minute - offset + 1440) % 1440 === 1439
}

const isDateTime: IsFormat = (text) => /^.{10}t/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11))

const DAYS_OF_DURATION = /^(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?$/
const TIME_OF_DURATION = /^(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)$/

const isDuration: IsFormat = (text) => {
  if (!text.startsWith('P') || text.length === 1) return false
  const [days = '', ...times] = text.slice(1).split('T')
  if (/^\d+W$/.test(days)) return times.length === 0
  return DAYS_OF_DURATION.test(days) && times.length < 2 && times.every((time) => TIME_OF_DURATION.test(time))
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/** A label with "--" in the third place must be an encoded name (xn--). */
const isHostName: IsFormat = (text) =>
  text.length <= 253 && text.split('.').every((label) => LABEL.test(label) && !/^(?!xn).{2}--/i.test(label))

const isIPv6Address: IsFormat = (text) => isIPv6(text) && !text.includes('%')

const ATOMS = /^[\w!#$%&'*+/=?^`{|}~-]{1,64}(?:\.[\w!#$%&'*+/=?^`{|}~-]{1,64}){0,63}$/
const QUOTED = /^"(?:[ !#-[\]-~]|\\[ -~]){0,64}"$/

const isEmail: IsFormat = (text) => {
  const at = text.lastIndexOf('@')
  const [name, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  if (!ATOMS.test(name) && !QUOTED.test(name)) return false
  const literal = /^\[(?:(ipv6:))?(.{1,64})\]$/i.exec(domain)
  if (literal === null) return isHostName(domain)
  const [, isSix, address = ''] = literal
  return isSix === undefined ? isIPv4(address) : isIPv6Address(address)
}

/** Scheme, authority, path, query and fragment: RFC 3986, appendix B. */
const URI = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s
const URI_TEXT = /^(?:[\w!$&'()*+,;=:@/?.~-]|%[0-9a-f]{2})*$/i
const HOST_AND_PORT = /^(?:[\w!$&'()*+,;=.~-]|%[0-9a-f]{2})*(?::\d*)?$/i
const LITERAL_AND_PORT = /^\[(?:v[0-9a-f]{1,64}\.[\w!$&'()*+,;=:.~-]{1,256}|([^\]]{0,64}))\](?::\d*)?$/i

const isAuthority: IsFormat = (text) => {
  const at = text.lastIndexOf('@')
  const [user, host] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  if (!URI_TEXT.test(user) || /[@/?]/.test(user)) return false
  const literal = LITERAL_AND_PORT.exec(host)
  return literal === null ? HOST_AND_PORT.test(host) : literal[1] === undefined || isIPv6Address(literal[1])
}

const isUriReference: IsFormat = (text) => {
  const [, scheme, authority, path = '', query = '', fragment = ''] = URI.exec(text) ?? []
  if (scheme !== undefined && !/^[a-z][a-z0-9+.-]*$/i.test(scheme)) return false
  return (
    (authority === undefined || isAuthority(authority)) && [path, query, fragment].every((part) => URI_TEXT.test(part))
  )
}

const isRegularExpression: IsFormat = (text) => {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}

export const FORMATS: Readonly<Record<string, IsFormat | RegExp>> = {
  'date': isDate,
  'time': isTime,
  'date-time': isDateTime,
  'duration': isDuration,
  'email': isEmail,
  'hostname': isHostName,
  'ipv4': isIPv4,
  'ipv6': isIPv6Address,
  'uri': (text) => /^[^:/?#]+:/.test(text) && isUriReference(text),
  'uri-reference': isUriReference,
  'uuid': /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  'json-pointer': /^(?:\/(?:[^~/]|~[01])*)*$/,
  'relative-json-pointer': /^(?:0|[1-9]\d{0,64})(?:#|(?:\/(?:[^~/]|~[01])*)*)$/,
  'regex': isRegularExpression,
}
