// Servers read one path differently: some cut off `;x=1`, some decode twice, some take `%2f` for a slash. A request is
// judged in every reading, so that no server does something that the policy does not allow.
import { joinNames } from '../glob/absolute-path.js'
import type { AbsolutePath } from '../glob/absolute-path.js'

/** All readings of a path, or `ambiguous` if they are too many or if no honest client would write the path so. */
export type PathReadings = readonly AbsolutePath[] | 'ambiguous'

/** A path without these has one reading: no escapes, parameters, doubled slashes, dots at the end of a name. */
const SUSPICIOUS = /[^A-Za-z0-9\-_~!&'()*+,=@:./]|\/\/|\.(?:\/|$)/
const LONGEST = 8_192
const MOST_TEXTS = 64
/** A path within a path within a path is encoded three times. */
const MOST_DECODED = 3

/** The path of a request, in every reading. The query is omitted. */
export const readUrlPath = (text: string): PathReadings => {
  const end = text.search(/[?#]/)
  const path = end === -1 ? text : text.slice(0, end)
  if (!path.startsWith('/')) return 'ambiguous'
  if (!SUSPICIOUS.test(path)) return [joinNames(namesIn(path))]
  if (path.length > LONGEST || MALFORMED.test(path)) return 'ambiguous'
  return readingsOf(path)
}

interface Draft {
  readonly text: string
  /** How often it was decoded. A text that was not decoded yet is not a reading. */
  readonly decoded: number
}

const readingsOf = (path: string): PathReadings => {
  const drafts: Draft[] = [{ text: path, decoded: 0 }]
  const seen = new Set<string>()
  const readings = new Set<AbsolutePath>()
  // Grows while it is walked.
  for (const draft of drafts) {
    const key = `${draft.decoded === 0 ? 'raw' : 'decoded'} ${draft.text}`
    if (seen.has(key)) continue
    seen.add(key)
    if (seen.size > MOST_TEXTS || isUnreadable(draft.text)) return 'ambiguous'
    const next = rewritings(draft)
    if (next === 'ambiguous') return 'ambiguous'
    drafts.push(...next)
    if (draft.decoded > 0 || !ESCAPE.test(draft.text)) readings.add(joinNames(namesIn(draft.text)))
  }
  return [...readings]
}

const ESCAPE = /%[0-9a-f]{2}/i
const MALFORMED = /%(?![0-9a-f]{2})/i
const KEPT_SLASH = '%2F'

/** Each change that some server makes to a path, once. Several changes in turn follow from repetition. */
const rewritings = ({ text, decoded }: Draft): readonly Draft[] | 'ambiguous' => {
  const texts: string[] = []
  if (text.includes(';')) texts.push(text.replaceAll(/;[^/]*/g, ''), text.slice(0, text.indexOf(';')))
  if (text.includes('//')) texts.push(text.replaceAll(/\/{2,}/g, '/'))
  const query = text.search(/[?#]/)
  if (query !== -1) texts.push(text.slice(0, query))
  texts.push(text.split('/').map(trimmed).join('/'), text.normalize('NFKC'))
  const others = texts.filter((other) => other !== text && other !== '').map((other) => ({ text: other, decoded }))
  if (!ESCAPE.test(text)) return others
  const [kept, whole] = [decode(text, KEPT_SLASH), decode(text, '/')]
  if (kept === undefined || whole === undefined || (decoded === MOST_DECODED && kept !== text)) return 'ambiguous'
  return [...others, ...[kept, whole].map((other) => ({ text: other, decoded: decoded + 1 }))]
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined if the bytes are not UTF-8: some servers read an overlong slash as a slash. */
const decode = (text: string, slash: string): string | undefined => {
  try {
    return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) =>
      UTF8.decode(Buffer.from(run.replaceAll('%', ''), 'hex')).replaceAll('/', slash),
    )
  } catch {
    return undefined
  }
}

/** As Windows and trimming servers read a name. A regular expression would take quadratic time on a run of dots. */
const trimmed = (name: string): string => {
  let end = name.length
  while (end > 0 && (name[end - 1] === '.' || name.slice(end - 1, end).trim() === '')) end -= 1
  return name.slice(0, end).trimStart()
}

/** Control characters, which servers treat differently, backslashes, streams of Windows, undecodable bytes. */
const NEVER_HONEST = /[\u0000-\u001f\u007f-\u009f\\\u2028\u2029\ufffd]|:\$/

/** Some read two slashes at the start as a host. Names of dots and blanks alone move or vanish. */
const isUnreadable = (text: string): boolean =>
  NEVER_HONEST.test(text) ||
  text.startsWith('//') ||
  text.split('/').some((name) => name !== '' && trimmed(name) === '')

/** A slash at the end is common, and no rule excludes it. */
const namesIn = (text: string): readonly string[] => {
  const names = text.slice(1).split('/')
  if (names.at(-1) === '') names.pop()
  return names.map((name) => (name === '' ? EMPTY_NAME : name))
}

/** Stands for the empty name between two slashes: a wildcard of one name matches it. */
const EMPTY_NAME = ' '
