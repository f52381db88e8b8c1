// What a tool of an agent does, by a table of the agent's own tools. A tool that no table knows is `other`: it needs a
// rule, or a person.
import type { JsonObject, JsonValue } from '../gate/index.js'

import type { Search, ToolAction } from './agent.js'
import { textIn, textOrTexts, unreadable } from './message.js'
import { startsOfPattern } from './search-pattern.js'

/** Fields of a tool that hold a path, or a list of paths. `a|b`: names of the same field. */
interface FileTool {
  readonly read?: readonly string[]
  readonly write?: readonly string[]
  /** Such fields may be missing. The tool then starts at the working directory. */
  readonly folder?: readonly string[]
  /** The tool shows the names of files in the folder that such a pattern finds. */
  readonly names?: readonly string[]
  /** The tool reads the files in the folder that such a pattern finds. */
  readonly contents?: readonly string[]
  /** The tool reads the files in the folder. Such a pattern selects some of them, at any depth. */
  readonly filter?: readonly string[]
}

export interface ToolTable {
  readonly agent: string
  /** By name, the field with the command line. */
  readonly shell: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, FileTool>>
  readonly harmless: readonly string[]
  /** What other built-in tools do, for the question about them. Cordon does not judge them by their input. */
  readonly others: Readonly<Record<string, string>>
}

export const READS_PAGES = 'reads pages of the network, outside of any cell'
export const GIVES_INSTRUCTIONS = 'gives the model instructions from files of the user or the project'

export const actionOf = (tool: string, input: JsonObject, table: ToolTable): ToolAction => {
  const { agent, shell, files, harmless, others } = table
  const field = Object.hasOwn(shell, tool) ? shell[tool] : undefined
  if (field !== undefined) return { kind: 'shell', command: textIn(input, field, agent) }
  const fileTool = Object.hasOwn(files, tool) ? files[tool] : undefined
  if (fileTool !== undefined) return filesOf(tool, input, fileTool, agent)
  if (harmless.includes(tool)) return { kind: 'harmless' }
  return { kind: 'other', input, known: Object.hasOwn(others, tool) ? others[tool] : undefined }
}

const filesOf = (
  tool: string,
  input: JsonObject,
  { read = [], write = [], folder = [], names = [], contents = [], filter }: FileTool,
  agent: string,
): ToolAction => {
  // An agent takes one of the names, or changes which one with its next version. So each of them is judged.
  const valuesOf = (field: string): readonly JsonValue[] =>
    field
      .split('|')
      .map((name) => input[name] ?? '')
      .filter((value) => value !== '')
  // A tool without its path was changed by its authors: nobody knows what it would open.
  const pathsIn = (field: string): readonly string[] => {
    const paths = valuesOf(field).map(textOrTexts)
    const all = paths.flatMap((each) => each ?? [])
    if (all.length === 0 || all.includes('') || paths.includes(undefined))
      throw unreadable(agent, `calls ${tool} without a path in "${field}"`)
    return all
  }
  const folders = folder.flatMap((field) => (valuesOf(field).length === 0 ? ['.'] : pathsIn(field)))
  const patternsIn = (fields: readonly string[]): readonly string[] =>
    fields.flatMap((field) => (valuesOf(field).length === 0 ? [] : pathsIn(field)))
  const startsIn = (fields: readonly string[]): readonly string[] => {
    const patterns = patternsIn(fields)
    if (fields.length > 0 && patterns.length === 0) return folders
    return patterns.flatMap(startsOfPattern).flatMap((start) => folders.map((each) => inFolder(each, start)))
  }
  const found = { names: startsIn(names), contents: startsIn(contents) }
  const filtered = patternsIn(filter ?? []).flatMap(startsOfPattern)
  const searched = [
    ...found.names.map((path): Search => ({ path, takes: 'names' })),
    ...[...found.contents, ...(filter === undefined ? [] : folders)].map((path): Search => ({
      path,
      takes: 'contents',
    })),
  ]
  return {
    kind: 'files',
    read: [...read.flatMap(pathsIn), ...folders, ...found.names, ...found.contents, ...filtered],
    write: write.flatMap(pathsIn),
    searched,
  }
}

const inFolder = (folder: string, path: string): string => {
  if (folder === '.' || /^\s*(?:[/~]|file:)/i.test(path)) return path
  return path === '.' ? folder : `${folder}/${path}`
}
