// Finds the files that a module imports, so that its tool may read them and not the project around them.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { dirname } from 'node:path'

import { parse } from 'acorn'
import type { AnyNode } from 'acorn'

import { fail } from '../../errors/index.js'

import { childrenOf } from './syntax-tree.js'
import { requireTypesStripped, withoutTypes } from './typescript-modules.js'

export interface ModuleFiles {
  readonly path: string
  /** The module, its imports, and the `node_modules` folders of imported packages. */
  readonly read: readonly string[]
}

const MOST_FILES = 2_000

/**
 * Follows literal imports (`import`, `export … from`, `import('…')`, `require('…')`) of code within the package. The
 * tool's policy has to grant everything else: imports with a computed name, and files elsewhere. Otherwise a module
 * could give itself any file by naming it.
 */
export const moduleFiles = (tool: string, module: string): ModuleFiles => {
  const path = realFile(tool, module)
  const files = new Set<string>()
  const packages = new Set<string>()
  const queue = [path]
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (files.has(file) || files.size >= MOST_FILES) continue
    files.add(file)
    for (const settings of packageSettings(file)) files.add(settings)
    const resolve = createRequire(file).resolve
    for (const name of importsOf(file)) {
      if (isBuiltin(name)) continue
      const found = resolved(resolve, name)
      if (found === undefined) continue // the error in the cell names it
      const folder = packageFolder(found)
      if (folder !== undefined) packages.add(folder)
      else if (IS_CODE.test(found) && (!IS_PATH.test(name) || isWithin(found, packageRoot(file)))) queue.push(found)
    }
  }
  return { path, read: [...files, ...packages] }
}

const IS_CODE = /\.(?:[cm]?[jt]s|json|node|wasm)$/
/** Any other name is of a package. One of the same workspace may be a link to a folder beside. */
const IS_PATH = /^(?:\.|\/|file:)/

const isWithin = (path: string, folder: string): boolean => path.startsWith(folder === '/' ? folder : `${folder}/`)

/** Without a package.json it is the folder of the file. */
const packageRoot = (file: string): string => dirname(packageSettings(file)[0] ?? file)

/** The module itself, links resolved. */
export const realFile = (tool: string, module: string): string => {
  const path = realPathOf(tool, module)
  requireTypesStripped(tool, path)
  return path
}

const realPathOf = (tool: string, module: string): string => {
  try {
    return realpathSync(module)
  } catch (cause) {
    throw fail('module-unreadable', { tool, module, cwd: process.cwd() }, cause)
  }
}

const resolved = (resolve: NodeJS.RequireResolve, name: string): string | undefined => {
  try {
    return realpathSync(resolve(name))
  } catch {
    return undefined
  }
}

/** The outermost `node_modules` of a path: packages find theirs beside them. */
const packageFolder = (path: string): string | undefined => {
  const at = path.indexOf('/node_modules/')
  return at === -1 ? undefined : `${path.slice(0, at)}/node_modules`
}

/** Node reads the nearest package.json to see whether a file is a module. */
export const packageSettings = (file: string): readonly string[] => {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const settings = `${folder === '/' ? '' : folder}/package.json`
    if (existsSync(settings)) return [settings]
    if (folder === '/') return []
  }
}

const importsOf = (file: string): readonly string[] => {
  const text = textOf(file)
  const found: string[] = []
  const visit = (node: AnyNode): void => {
    const source = sourceOf(node)
    if (source?.type === 'Literal' && typeof source.value === 'string') found.push(source.value)
    for (const child of childrenOf(node)) visit(child)
  }
  const program = parsed(text)
  if (program !== undefined) visit(program)
  return found
}

/** As JavaScript. */
const textOf = (file: string): string => {
  if (/\.[cm]?js$/.test(file)) return readFileSync(file, 'utf8')
  return /\.[cm]?ts$/.test(file) ? withoutTypes(readFileSync(file, 'utf8')) : ''
}

const sourceOf = (node: AnyNode): AnyNode | undefined => {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
      return node.source
    case 'ExportNamedDeclaration':
      return node.source ?? undefined
    case 'CallExpression':
      return node.callee.type === 'Identifier' && node.callee.name === 'require' ? node.arguments[0] : undefined
    default:
      return undefined
  }
}

/** Undefined if it is no JavaScript. Node reports that in the cell. */
const parsed = (text: string): AnyNode | undefined => {
  for (const sourceType of ['module', 'script'] as const) {
    try {
      return parse(text, { ecmaVersion: 'latest', sourceType, allowHashBang: true, allowReturnOutsideFunction: true })
    } catch {
      continue
    }
  }
  return undefined
}
