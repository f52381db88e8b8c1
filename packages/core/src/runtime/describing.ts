// `cordon manifest generate` loads a project in a cell. There, createCordon describes its options and starts nothing.
import type { ManifestAgent, ManifestKey } from '../manifest/index.js'

/** The loader and the library may be of different versions of Cordon. */
const FORM = 'cordon-describe/2'

// Only describe/load-entries.ts sets it, in the cell. In this mode every call is refused, so code that sets it
// elsewhere gets nothing by it.
const KEY = Symbol.for('cordon.describing')

/** What the loaded modules told so far. */
export interface Description {
  readonly form: typeof FORM
  readonly project: string
  /** Of the user outside of the cell. */
  readonly home: string
  /** For hashes of values that may be secrets. */
  readonly key: ManifestKey
  /** On a Node that does not run TypeScript: by the compiler of the project. */
  readonly stripTypes: ((text: string) => string) | undefined
  /** The module that is being loaded, from the folder of the project. */
  entry: string
  readonly agents: DescribedAgent[]
  readonly tools: MadeTool[]
}

/** A `ToolDefinition`, whatever version of Cordon made it. */
export interface NamedTool {
  readonly name: string
}

export interface DescribedAgent {
  readonly entry: string
  /** If the options name one. */
  readonly name: string | undefined
  readonly tools: NamedTool[]
  readonly agent: ManifestAgent
  /** Tools that were added later. */
  readonly dynamic: string[]
}

/** A tool that was made while the project was loaded. */
export interface MadeTool {
  readonly entry: string
  readonly definition: NamedTool
  readonly source: string | undefined
}

export const startDescribing = (places: Pick<Description, 'project' | 'home' | 'key' | 'stripTypes'>): Description => {
  const description: Description = { form: FORM, ...places, entry: '', agents: [], tools: [] }
  Object.defineProperty(globalThis, KEY, { value: description })
  return description
}

/** Undefined, unless a project is being described. */
export const currentDescription = (): Description | undefined => {
  const found = (globalThis as Readonly<Record<symbol, unknown>>)[KEY] as Description | undefined
  return found?.form === FORM ? found : undefined
}

/** A tool was made by `tool` or `processTool`. */
export const noteTool = <Definition extends NamedTool>(definition: Definition): Definition => {
  const description = currentDescription()
  description?.tools.push({ definition, entry: description.entry, source: callerIn(description) })
  return definition
}

/** `agents/tools.ts:12`: the first place in the project on the way to this call. */
export const callerIn = ({ project }: Description): string | undefined => {
  for (const frame of new Error().stack?.split('\n') ?? []) {
    const start = frame.indexOf('/')
    const [line, ...path] = frame.slice(start).split(':').slice(0, -1).reverse()
    const written = path.reverse().join(':')
    const file = written.startsWith('///') ? decodeURI(written.slice(2)) : written
    if (start !== -1 && file.startsWith(`${project}/`) && !file.includes('/node_modules/'))
      return `${file.slice(project.length + 1)}:${line ?? ''}`
  }
  return undefined
}

/** As it is listed in `dynamic`. */
export const describePlace = (name: string, source: string | undefined): string =>
  source === undefined ? name : `${name} (${source})`
