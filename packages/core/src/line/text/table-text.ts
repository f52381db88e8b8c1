// Tables and facts for a terminal. Their texts come from others, and are shown so that they cannot act on it.
import type { Paint } from './console-text.js'
import { markedLines, visible, wrapText } from './visible-text.js'

/** `nothing` is printed where there are no rows. */
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

/** A fact without a text is not shown. */
export type Fact = readonly [name: string, text: string | null | undefined]

/** `  name       text` lines. A long text is indented, so that none of it looks like a line of Cordon. */
export const renderFacts = (facts: readonly Fact[], paint: Paint): readonly string[] =>
  facts.flatMap(([name, text]) => {
    if (text === null || text === undefined) return []
    // Names can come from others too: keys of a definition, or of the usage that a runner reports.
    const [label, whole] = visible(name).length < NAME_WIDTH ? [visible(name), text] : ['other', `${name}: ${text}`]
    return wrapText(visible(whole), COLUMNS - NAME_WIDTH).map(
      (line, at) => `  ${paint('dim', (at === 0 ? label : '').padEnd(NAME_WIDTH))}${line}`,
    )
  })

/** On one line, to be copied. */
export const renderHash = (hash: string, paint: Paint): readonly string[] => [
  `  ${paint('dim', 'hash'.padEnd(NAME_WIDTH))}${visible(hash)}`,
]

/** A label, and lines of others beneath it, each behind a mark. */
export const renderQuoted = (label: string, text: string, paint: Paint): readonly string[] => [
  `  ${paint('dim', label)}`,
  ...text.split('\n').flatMap((line) => markedLines(visible(line), COLUMNS, '  | ')),
]

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const

/** A period as it is typed, exactly: 90m, 1d. */
export const renderWindow = (seconds: number): string => {
  const [unit, size] = UNITS.find(([, each]) => seconds >= each && seconds % each === 0) ?? ['s', 1]
  return `${String(seconds / size)}${unit}`
}

/** How long, in its largest unit. */
export const renderSpan = (ms: number): string => {
  const seconds = Math.max(0, Math.round(Math.abs(ms) / 1000))
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ['s', 1]
  return `${String(Math.floor(seconds / size))}${unit}`
}

export const ageOf = (time: string, now = Date.now()): string => renderSpan(now - Date.parse(time))
