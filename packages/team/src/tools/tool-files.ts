// Loads the tools of a runner: programs from YAML or JSON files, and modules that export tools.
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isStandardSchema } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'
import { itemsOf, keyOf, mappingOf, readDocument, nodeText, renderPolicy } from 'cordon/policy'
import type { PolicyNode } from 'cordon/policy'
import { processTool } from 'cordon/runtime'
import type { ToolDefinition } from 'cordon/runtime'
import { withoutUndefined } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import type { ToolRegistration } from '../store/index.js'
import { filledIn, wordsOf } from './command-template.js'
import { egressClassOf } from './egress-class.js'
import type { Places } from './egress-class.js'
import { toolHash } from './tool-hash.js'

export interface RunnerTool {
  readonly definition: ToolDefinition
  readonly hash: string
  /** The words of a tool from a document, with placeholders. */
  readonly command?: readonly string[]
  /** Its standard input, with placeholders. */
  readonly stdin?: string
  readonly file: string
}

const DOCUMENTS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json'])
const MODULES: ReadonlySet<string> = new Set(['.mjs', '.js'])

/** `places`: files, and folders whose files are read in the order of their names. */
export const loadToolFiles = async (places: readonly string[]): Promise<readonly RunnerTool[]> => {
  const loaded = (await Promise.all(places.flatMap((place) => filesAt(resolve(place))).map(toolsIn))).flat()
  const seen = new Map<string, string>()
  for (const { definition, file } of loaded) {
    const other = seen.get(definition.name)
    if (other !== undefined)
      throw unfit(file, `the tool "${definition.name}" is in ${other} already`, 'give each tool a name of its own')
    seen.set(definition.name, file)
  }
  return loaded
}

const unfit = (path: string, problem: string, fix: string, cause?: unknown) =>
  fail('runner-tools-invalid', { path, problem, fix }, cause)

const filesAt = (place: string): readonly string[] => {
  try {
    if (!statSync(place).isDirectory()) return [place]
    return readdirSync(place)
      .sort()
      .filter((name) => DOCUMENTS.has(extname(name)) || MODULES.has(extname(name)))
      .map((name) => join(place, name))
  } catch (cause) {
    throw unfit(place, 'it cannot be read', 'name a file or a folder of tools with --tools', cause)
  }
}

const toolsIn = async (file: string): Promise<readonly RunnerTool[]> => {
  if (DOCUMENTS.has(extname(file))) return toolsOfDocument(file)
  if (!MODULES.has(extname(file)))
    throw unfit(
      file,
      'it is neither a document nor a module',
      'tools are in files that end in .yaml, .yml, .json, .mjs or .js',
    )
  const { tools } = (await import(pathToFileURL(file).href)) as { readonly tools?: unknown }
  if (!Array.isArray(tools))
    throw unfit(file, 'it exports no list "tools"', 'write it like: export const tools = [processTool({ … })]')
  return (tools as readonly ToolDefinition[]).map((definition) => ({ definition, hash: toolHash(definition), file }))
}

/** Passed on to `processTool` as they are. */
const PLAIN_KEYS = [
  'description',
  'input',
  'policy',
  'constraints',
  'cwd',
  'successes',
  'encoding',
  'destructive',
  'argumentGate',
] as const
const KEYS = ['name', 'command', 'stdin', ...PLAIN_KEYS] as const

const toolsOfDocument = (file: string): readonly RunnerTool[] => {
  const root = { ...readDocument(readFileSync(file, 'utf8'), file), whole: 'the tools file' }
  if (isRegistration(root.value))
    throw unfit(
      file,
      'it has "key" in place of a list "tools"',
      'in the tools file, write: tools: [{ name: …, policy: { … }, command: [ … ] }]; this looks like a file ' +
        'for `cordon team tools register`',
    )
  const { tools } = mappingOf(root, ['tools'])
  if (tools === undefined)
    throw unfit(file, 'it has no list "tools"', 'write it like: tools: [{ name: …, policy: { … }, command: [ … ] }]')
  return itemsOf(tools, 'a list of tools').map((node) => toolOf(file, node))
}

/** A file for `cordon team tools register`: one tool, or a list of them. */
const isRegistration = (value: unknown): boolean => {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'object' && first !== null && 'key' in first && !('tools' in first)
}

const toolOf = (file: string, node: PolicyNode): RunnerTool => {
  const given = mappingOf(node, KEYS)
  const name = nodeText(given.name ?? missing(node, 'name'), 'a name')
  const words = itemsOf(given.command ?? missing(node, 'command'), 'a list of words').map((word) =>
    nodeText(word, 'a word'),
  )
  const stdin = given.stdin === undefined ? undefined : nodeText(given.stdin, 'a text')
  const values = Object.fromEntries(PLAIN_KEYS.map((key) => [key, given[key]?.value]))
  const definition = processTool({
    ...(withoutUndefined(values) as Readonly<Record<string, never>>),
    name,
    command: (input: JsonValue) => wordsOf(name, words, input),
    ...(stdin === undefined ? {} : { stdin: (input: JsonValue) => filledIn(name, stdin, input) }),
  })
  return {
    definition,
    hash: toolHash(definition, { words, stdin }),
    command: words,
    ...withoutUndefined({ stdin }),
    file,
  }
}

const missing = (node: PolicyNode, key: string): never => {
  throw unfit(keyOf(node), `a tool without "${key}"`, 'a tool has at least a name and a command')
}

/** Without owner and callers. `requiresApproval` is left to the registry, where its default is on. */
export const registrationOf = (
  { definition, hash, command, stdin }: RunnerTool,
  places: Places,
): Omit<ToolRegistration, 'owner'> => ({
  key: definition.name,
  description: definition.description,
  ...(definition.schema === undefined || isStandardSchema(definition.schema) ? {} : { inputSchema: definition.schema }),
  egressClass: egressClassOf(definition, places),
  definition: {
    kind: definition.kind,
    ...withoutUndefined({ command, stdin }),
    hash,
    policy: policyOf(definition),
  },
  needsBoundary: definition.policy.require,
})

/** The policy as a mapping. */
const policyOf = ({ policy, name }: ToolDefinition): object =>
  (readDocument(
    renderPolicy(policy)
      .map(({ text }) => text)
      .join('\n'),
    name,
  ).value as object | null) ?? {}
