// What a tool of an agent does, by a table of the agent's own tools. A tool that no table knows is `other`: it needs a
// rule, or a person.
import type { JsonObject, JsonValue } from '../../gate/index.js'

import type { ToolAction } from './agent.js'
import { textIn, textsOf, unreadable } from './message.js'

/** Fields of a tool that hold a path, or a list of paths. `a|b`: names of the same field. */
interface FileTool {
  readonly read?: readonly string[]
  readonly write?: readonly string[]
  /** Such fields may be missing. The tool then starts at the working directory. */
  readonly folder?: readonly string[]
  /** Such fields hold a pattern, which may lead out of the folder. */
  readonly glob?: readonly string[]
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
  { read = [], write = [], folder = [], glob = [] }: FileTool,
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
    const paths = valuesOf(field).map(textsOf)
    const all = paths.flatMap((each) => each ?? [])
    if (all.length === 0 || all.includes('') || paths.includes(undefined))
      throw unreadable(agent, `calls ${tool} without a path in "${field}"`)
    return all
  }
  const folders = folder.flatMap((field) => (valuesOf(field).length === 0 ? ['.'] : pathsIn(field)))
  const globs = glob.flatMap((field) => (valuesOf(field).length === 0 ? [] : pathsIn(field)))
  return {
    kind: 'files',
    read: [...read.flatMap(pathsIn), ...folders, ...globs.flatMap(startOfGlob)],
    write: write.flatMap(pathsIn),
  }
}

/** The folder at which a pattern starts, if it can leave the folder that the tool names. */
const startOfGlob = (pattern: string): readonly string[] => {
  if (!/^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(pattern)) return []
  const plain = pattern.split(/[*?[{]/, 1)[0] ?? ''
  const start = plain === pattern ? plain : plain.replace(/[^/]*$/, '')
  // Braces can hide a `..` behind the plain start.
  return pattern.slice(plain.length).includes('..') ? ['/'] : [start === '' ? '.' : start]
}
