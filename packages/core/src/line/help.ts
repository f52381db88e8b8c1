// Help texts of commands.
import type { Option } from './arguments.js'

export interface CommandHelp {
  readonly usage: string
  readonly summary: string
  readonly description: readonly string[]
  readonly groups: readonly { readonly title: string; readonly options: readonly Option[] }[]
  readonly notes: readonly string[]
}

const WIDTH = 29

export const renderHelp = ({ usage, description, groups, notes }: CommandHelp): string =>
  [
    `usage: ${usage}`,
    '',
    ...description,
    ...groups.flatMap(({ title, options }) => ['', `${title}:`, ...options.map(renderOption)]),
    ...(notes.length === 0 ? [] : ['', ...notes]),
    '',
  ].join('\n')

const renderOption = ({ name, value, help }: Option): string => {
  const left = `  --${name}${value === undefined ? '' : ` ${value}`}`
  return left.length < WIDTH ? `${left.padEnd(WIDTH)} ${help}` : `${left}\n${' '.repeat(WIDTH)} ${help}`
}

/** `  name    text` lines with the texts under each other. */
export const renderList = (entries: readonly (readonly [string, string])[]): readonly string[] => {
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
}
