// A client's file in TOML (Codex). Only the lines of `command` and `args` in the table of a server are written anew, so
// comments stay. What this cannot write is refused: the result is parsed, and must have changed as meant and no more.
import { parse } from 'smol-toml'

import type { ConfigText } from './config-text.js'

export const tomlText: ConfigText = {
  parse: (text) => parse(text),
  withStart: (text, place, { command, args }) => {
    const lines = text.split('\n')
    const start = lines.findIndex((line) => isHeader(line, place))
    if (start === -1) throw new Error(`there is no table [${place.join('.')}]`)
    const after = lines.findIndex((line, at) => at > start && /^\s*\[/.test(line))
    const end = after === -1 ? lines.length : after
    const kept = withoutKeys(lines.slice(start + 1, end))
    const written = [
      `command = ${JSON.stringify(command)}`,
      ...(args.length === 0 ? [] : [`args = [${args.map((arg) => JSON.stringify(arg)).join(', ')}]`]),
    ]
    return [...lines.slice(0, start + 1), ...written, ...kept, ...lines.slice(end)].join('\n')
  },
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

/** The lines of a table without `command` and `args`, which may span several lines. */
const withoutKeys = (lines: readonly string[]): readonly string[] => {
  const kept: string[] = []
  for (let at = 0; at < lines.length; at += 1) {
    if (!/^\s*(?:command|args)\s*=/.test(lines[at] ?? '')) {
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
