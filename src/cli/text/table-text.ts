// Rows for eyes. What is in them comes from others, and is shown as text that cannot act on a terminal.
import type { Paint } from './console-text.js'
import { quoted, visible, wrapped } from './visible-text.js'

/** Columns under each other, the first line as their heads; "nothing" where there are no rows. */
export const renderTable = (
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
  nothing: string,
): string => {
  if (rows.length === 0) return `${nothing}\n`
  const shown = rows.map((row) => row.map(visible))
  const widths = heads.map((head, at) => Math.max(head.length, ...shown.map((row) => row[at]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    cells.map((cell, at) => (at === cells.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  ')
  return [paint('dim', line(heads)), ...shown.map(line), ''].join('\n')
}

const COLUMNS = 74
const NAME_WIDTH = 11

/** `  name       text` lines; a long text goes on beneath itself, so that none of it looks like a line of ours. */
export const renderFacts = (facts: readonly (readonly [string, string])[], paint: Paint): readonly string[] =>
  facts.flatMap(([name, text]) => {
    // Names can be somebody else's, too: keys of a definition, of what a runner says.
    const [label, whole] = visible(name).length < NAME_WIDTH ? [visible(name), text] : ['other', `${name}: ${text}`]
    return wrapped(visible(whole), COLUMNS - NAME_WIDTH).map(
      (line, at) => `  ${paint('dim', (at === 0 ? label : '').padEnd(NAME_WIDTH))}${line}`,
    )
  })

/** On one line, so that it can be copied. */
export const renderHash = (hash: string, paint: Paint): readonly string[] => [
  `  ${paint('dim', 'hash'.padEnd(NAME_WIDTH))}${visible(hash)}`,
]

/** Lines of somebody else's, each behind a mark. */
export const renderQuoted = (text: string): readonly string[] =>
  text.split('\n').flatMap((line) => quoted(visible(line), COLUMNS, '  | '))

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const

/** A span as it would be typed, exactly: 90m, 1d. */
export const renderWindow = (seconds: number): string => {
  const [unit, size] = UNITS.find(([, each]) => seconds >= each && seconds % each === 0) ?? ['s', 1]
  return `${String(seconds / size)}${unit}`
}

/** How long ago, or how long until then, in its largest unit. */
export const renderSpan = (ms: number): string => {
  const seconds = Math.max(0, Math.round(Math.abs(ms) / 1000))
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ['s', 1]
  return `${String(Math.floor(seconds / size))}${unit}`
}
