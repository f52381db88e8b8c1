// How the formats of clients' files are read and changed. Everything else in a file stays as it is.
import { parse } from 'smol-toml'
import { parseJson, withJsonValue } from 'cordon/commands'

/** Fields of an entry. Undefined: the field is removed. */
export type EntryFields = Readonly<Record<string, unknown>>

/** How a format is read and changed. */
export interface ConfigText {
  readonly parse: (text: string) => unknown
  /** The text with other fields of the entry at a place. Everything else stays as it is. */
  readonly withFields: (text: string, place: readonly string[], fields: EntryFields) => string
}

export const jsonText: ConfigText = {
  parse: parseJson,
  withFields: (text, place, fields) =>
    Object.entries(fields).reduce((current, [key, value]) => withJsonValue(current, [...place, key], value), text),
}

/**
 * The format of Codex. Only the lines of the changed fields in the table of a server are written anew, so comments
 * stay. What this cannot write is refused: the result is parsed, and must have changed as meant and no more.
 */
export const tomlText: ConfigText = {
  parse: (text) => parse(text),
  withFields: (text, place, fields) => {
    const keys = Object.keys(fields)
    const lines = keys.reduce<readonly string[]>(
      (current, key) => withoutTable(current, [...place, key]),
      text.split('\n'),
    )
    const start = lines.findIndex((line) => isHeader(line, place))
    if (start === -1) throw new Error(`there is no table [${place.join('.')}]`)
    const end = endOfTable(lines, start)
    const kept = withoutKeys(lines.slice(start + 1, end), keys)
    const written = Object.entries(fields).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key} = ${tomlValue(value)}`],
    )
    return [...lines.slice(0, start + 1), ...written, ...kept, ...lines.slice(end)].join('\n')
  },
}

/** Where the next table begins, or the text ends. */
const endOfTable = (lines: readonly string[], start: number): number => {
  const after = lines.findIndex((line, at) => at > start && /^\s*\[/.test(line))
  return after === -1 ? lines.length : after
}

/** A mapping may be a table of its own. Its comments stay. */
const withoutTable = (lines: readonly string[], place: readonly string[]): readonly string[] => {
  const start = lines.findIndex((line) => isHeader(line, place))
  if (start === -1) return lines
  const end = endOfTable(lines, start)
  const comments = lines.slice(start + 1, end).filter((line) => /^\s*#/.test(line))
  return [...lines.slice(0, start), ...comments, ...lines.slice(end)]
}

const tomlValue = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)} = ${tomlValue(each)}`)
  return `{ ${pairs.join(', ')} }`
}

/** Whether a line opens the table of this place, bare or quoted. */
const isHeader = (line: string, place: readonly string[]): boolean => {
  const inside = /^\s*\[(?<inside>[^[].*)\]\s*(?:#.*)?$/.exec(line)?.groups?.['inside']
  if (inside === undefined) return false
  try {
    let table: unknown = parse(`[${inside}]`)
    for (const key of place) table = (table as Readonly<Record<string, unknown>> | undefined)?.[key]
    return typeof table === 'object' && table !== null && Object.keys(table).length === 0
  } catch {
    return false
  }
}

/** The lines of a table without these keys. The value of a key may span several lines. */
const withoutKeys = (lines: readonly string[], keys: readonly string[]): readonly string[] => {
  const kept: string[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const key = /^\s*"?(?<key>[\w-]+)"?\s*=/.exec(lines[at] ?? '')?.groups?.['key']
    if (key === undefined || !keys.includes(key)) {
      kept.push(lines[at] ?? '')
      continue
    }
    let end = at + 1
    while (end < lines.length && !isWhole(lines.slice(at, end))) end += 1
    at = end - 1
  }
  return kept
}

const isWhole = (lines: readonly string[]): boolean => {
  try {
    parse(lines.join('\n'))
    return true
  } catch {
    return false
  }
}
