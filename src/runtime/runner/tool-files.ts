// The tools of a runner's host: YAML or JSON files of programs, and modules that export tools.
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { fail } from '../../errors/index.js'
import type { JsonValue } from '../../gate/index.js'
import { itemsOf, keyOf, mappingOf, readDocument, textOf } from '../../policy/index.js'
import type { PolicyNode } from '../../policy/index.js'

import { processTool } from '../tools/tools.js'
import type { ToolDefinition } from '../tools/tools.js'

import { filledIn, wordsOf } from '../tool-identity/command-template.js'
import type { CommandTemplate } from '../tool-identity/command-template.js'
import { toolHash } from '../tool-identity/tool-hash.js'

/** A tool and what it is, as the registry has to know it. */
export interface RunnerTool {
  readonly definition: ToolDefinition
  readonly hash: string
  /** Its words as they are written, where they are. */
  readonly command?: readonly string[]
  /** What goes into its standard input, as it is written. */
  readonly stdin?: string
  /** For people: the file that it is from. */
  readonly file: string
}

const DOCUMENTS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json'])
const MODULES: ReadonlySet<string> = new Set(['.mjs', '.js'])

/** Of files and of folders, whose files are read in the order of their names. */
export const loadToolFiles = async (places: readonly string[]): Promise<readonly RunnerTool[]> => {
  const loaded = (await Promise.all(places.flatMap((place) => filesAt(resolve(place))).map(toolsIn))).flat()
  const seen = new Map<string, string>()
  for (const {
    definition: { name },
    file,
  } of loaded) {
    const other = seen.get(name)
    if (other !== undefined)
      throw fail('runner-tools-invalid', {
        path: file,
        problem: `the tool "${name}" is in ${other} already`,
        fix: 'give each tool a name of its own',
      })
    seen.set(name, file)
  }
  return loaded
}

const filesAt = (place: string): readonly string[] => {
  try {
    if (!statSync(place).isDirectory()) return [place]
    return readdirSync(place)
      .sort()
      .filter((name) => DOCUMENTS.has(extname(name)) || MODULES.has(extname(name)))
      .map((name) => join(place, name))
  } catch (cause) {
    throw fail(
      'runner-tools-invalid',
      { path: place, problem: 'it cannot be read', fix: 'name a file or a folder of tools with --tools' },
      cause,
    )
  }
}

const toolsIn = async (file: string): Promise<readonly RunnerTool[]> => {
  if (DOCUMENTS.has(extname(file))) return toolsOfDocument(file)
  if (!MODULES.has(extname(file)))
    throw fail('runner-tools-invalid', {
      path: file,
      problem: 'it is neither a document nor a module',
      fix: 'tools are in files that end in .yaml, .yml, .json, .mjs or .js',
    })
  const { tools } = (await import(pathToFileURL(file).href)) as { readonly tools?: unknown }
  if (!Array.isArray(tools))
    throw fail('runner-tools-invalid', {
      path: file,
      problem: 'it exports no list "tools"',
      fix: 'write it like: export const tools = [processTool({ … })]',
    })
  return (tools as readonly ToolDefinition[]).map((definition) => ({ definition, hash: toolHash(definition), file }))
}

const KEYS = [
  'name',
  'description',
  'input',
  'policy',
  'constraints',
  'cwd',
  'command',
  'stdin',
  'successes',
  'destructive',
  'argumentGate',
] as const

const toolsOfDocument = (file: string): readonly RunnerTool[] => {
  const root = { ...readDocument(readFileSync(file, 'utf8'), file), whole: 'the tools file' }
  if (isRegistration(root.value))
    throw fail('runner-tools-invalid', {
      path: file,
      problem: 'it has "key" in place of a list "tools"',
      fix:
        'in the tools file, write: tools: [{ name: …, policy: { … }, command: [ … ] }]; this looks like a file ' +
        'for `cordon tools register`',
    })
  const { tools } = mappingOf(root, ['tools'])
  if (tools === undefined)
    throw fail('runner-tools-invalid', {
      path: file,
      problem: 'it has no list "tools"',
      fix: 'write it like: tools: [{ name: …, policy: { … }, command: [ … ] }]',
    })
  return itemsOf(tools, 'a list of tools').map((node) => toolOf(file, node))
}

/** A tool as `cordon tools register` reads it: one, or a list of them. */
const isRegistration = (value: unknown): boolean => {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'object' && first !== null && 'key' in first && !('tools' in first)
}

const toolOf = (file: string, node: PolicyNode): RunnerTool => {
  const given = mappingOf(node, KEYS)
  const nameNode = given.name ?? missing(node, 'name')
  const name = textOf(nameNode, 'a name')
  const words = itemsOf(given.command ?? missing(node, 'command'), 'a list of words').map((word) =>
    textOf(word, 'a word'),
  )
  const stdin = given.stdin === undefined ? undefined : textOf(given.stdin, 'a text')
  const template: CommandTemplate = { words, stdin }
  const definition = processTool({
    ...valuesOf(given, [
      'description',
      'input',
      'policy',
      'constraints',
      'cwd',
      'successes',
      'destructive',
      'argumentGate',
    ]),
    name,
    command: (input: JsonValue) => wordsOf(name, words, input),
    ...(stdin === undefined ? {} : { stdin: (input: JsonValue) => filledIn(name, stdin, input) }),
  })
  return {
    definition,
    hash: toolHash(definition, template),
    command: words,
    ...(stdin === undefined ? {} : { stdin }),
    file,
  }
}

const valuesOf = <Key extends string>(
  given: Readonly<Partial<Record<Key, PolicyNode>>>,
  keys: readonly Key[],
): Readonly<Record<string, never>> =>
  Object.fromEntries(keys.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key].value]]))) as Readonly<
    Record<string, never>
  >

const missing = (node: PolicyNode, key: string): never => {
  throw fail('runner-tools-invalid', {
    path: keyOf(node),
    problem: `a tool without "${key}"`,
    fix: 'a tool has at least a name and a command',
  })
}
