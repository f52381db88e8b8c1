// Runs in the cell that describes a project: loads its modules, and tells which agents and tools they make.
import module, { createRequire } from 'node:module'
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'

import type { ManifestAgent } from '../../manifest/index.js'
import type { createCordon as create } from '../create-cordon.js'
import type { ToolDefinition } from '../tools/tools.js'
import { stripsTypes } from '../tools/typescript-modules.js'

import { describePlace, startDescribing } from '../describing.js'
import type { Description } from '../describing.js'
import { compilerOf } from './typescript-hooks.js'
import type { HookData } from './typescript-hooks.js'

export interface LoadRequest {
  readonly project: string
  readonly home: string
  /** Of the manifest. */
  readonly key: string
  /** Absolute paths. */
  readonly files: readonly string[]
}

/** The default export of a configuration, as JSON. */
export const loadConfig = async (request: LoadRequest): Promise<unknown> => {
  prepare(request)
  const [file = ''] = request.files
  return ((await import(pathToFileURL(file).href)) as { readonly default?: unknown }).default
}

export const loadEntries = async (request: LoadRequest): Promise<readonly ManifestAgent[]> => {
  const description = prepare(request)
  const exported = new Map<string, ReadonlySet<unknown>>()
  for (const file of request.files) {
    description.entry = relative(request.project, file)
    exported.set(description.entry, new Set(valuesOf(await import(pathToFileURL(file).href))))
  }
  for (const entry of exported.keys()) await describeLoose(description, entry, exported)
  return description.agents.map(({ agent, name, entry, dynamic }) => ({
    ...agent,
    name: name ?? entry.replace(/\.[cm]?[jt]s$/, ''),
    dynamic: [...dynamic].sort(),
  }))
}

/** Tools that an entry exports, and no agent has. The library that made them describes them. */
const describeLoose = async (
  description: Description,
  entry: string,
  exported: ReadonlyMap<string, ReadonlySet<unknown>>,
): Promise<void> => {
  const { agents, tools, project } = description
  const held = new Set<unknown>(agents.flatMap((each) => each.tools))
  const loose = tools.filter(({ definition }) => !held.has(definition))
  const offered = loose.filter(({ definition }) => exported.get(entry)?.has(definition) === true)
  // Code that runs later may use the others.
  const others = loose.filter(
    ({ definition, entry: madeBy }) =>
      madeBy === entry && ![...exported.values()].some((values) => values.has(definition)),
  )
  const ofEntry = () => agents.filter((each) => each.entry === entry)
  if (offered.length > 0 || (others.length > 0 && ofEntry().length === 0)) {
    const library = createRequire(`${project}/${entry}`).resolve('cordon')
    const { createCordon } = (await import(pathToFileURL(library).href)) as { readonly createCordon: typeof create }
    description.entry = entry
    await createCordon({ tools: offered.map(({ definition }) => definition as ToolDefinition), workspace: project })
  }
  ofEntry()
    .at(-1)
    ?.dynamic.push(...others.map(({ definition, source }) => describePlace(definition.name, source)))
}

const prepare = ({ project, home, key }: LoadRequest): Description => {
  const { versions, features } = process
  const compiles = !stripsTypes(versions.node, (features as { readonly typescript?: unknown }).typescript)
  const data: HookData = { project, compiles }
  module.register(new URL('typescript-hooks.js', import.meta.url), { data })
  if (compiles) process.setSourceMapsEnabled(true)
  return startDescribing({
    project,
    home,
    key,
    stripTypes: compiles ? (text) => compilerOf(project)(text, 'module.ts') : undefined,
  })
}

/** Exported tools, also those in lists and mappings. */
const valuesOf = (exports: unknown): readonly unknown[] =>
  Object.values(exports as object).flatMap((value: unknown) =>
    typeof value === 'object' && value !== null ? [value, ...(Object.values(value) as readonly unknown[])] : [],
  )
