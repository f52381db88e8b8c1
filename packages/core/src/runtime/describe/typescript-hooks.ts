// Loads TypeScript of a project, in the cell that describes it. Node calls these functions in a thread of their own.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module'
import { fileURLToPath } from 'node:url'

export interface HookData {
  readonly project: string
  /** False: this Node runs TypeScript by itself. */
  readonly compiles: boolean
}

interface Compiler {
  readonly transpileModule?: (text: string, settings: object) => { readonly outputText: string }
}

let data: HookData | undefined

export const initialize: InitializeHook<HookData> = (given) => {
  data = given
}

/** TypeScript writes the names of the files that it would make: `./tools.js` for `./tools.ts`. */
export const resolve: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context)
  } catch (error) {
    const isOwn = /^(?:\.|\/|file:)/.test(specifier) && context.parentURL?.startsWith('file:') === true
    const written = isOwn ? new URL(specifier, context.parentURL).href.replace(/\.(?<kind>[cm]?)js$/, '.$<kind>ts') : ''
    if (!/ts$/.test(written) || !existsSync(fileURLToPath(written))) throw error
    return next(written, context)
  }
}

export const load: LoadHook = async (url, context, next) => {
  if (data?.compiles !== true || !/^file:.*\.m?ts$/.test(url) || url.includes('/node_modules/'))
    return next(url, context)
  const path = fileURLToPath(url)
  const source = compilerOf(data.project)(await readFile(path, 'utf8'), path)
  return { format: 'module', source, shortCircuit: true }
}

/** Removes types with the compiler of the project, and nothing else. */
export const compilerOf = (project: string): ((text: string, fileName: string) => string) => {
  const { transpileModule } = compilerIn(project)
  if (transpileModule === undefined)
    throw new Error(
      `Node ${process.versions.node} does not run TypeScript, and the project has no package "typescript" that could ` +
        'compile it. Install it (npm install --save-dev typescript), or use Node 22.18 or later',
    )
  return (text, fileName) =>
    transpileModule(text, {
      fileName,
      // 99: the newest. Imports stay, as when Node removes types.
      compilerOptions: { module: 99, target: 99, verbatimModuleSyntax: true, inlineSourceMap: true },
    }).outputText
}

const compilerIn = (project: string): Compiler => {
  try {
    return createRequire(`${project}/package.json`)('typescript') as Compiler
  } catch {
    return {}
  }
}
