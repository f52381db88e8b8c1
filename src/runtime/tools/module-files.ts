// The files that a module needs to be loaded, so that its tool may read those and not the project around it.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { dirname } from 'node:path'

import { parse } from 'acorn'
import type { AnyNode, Node } from 'acorn'

import { fail } from '../../errors/index.js'

import { childrenOf } from './syntax-tree.js'

export interface ModuleFiles {
  readonly path: string
  /** Itself and what it imports; of packages the folder that holds them and theirs. */
  readonly read: readonly string[]
}

const MOST_FILES = 2_000

/**
 * Follows imports that are written out (`import`, `export … from`, `import('…')`, `require('…')`). What a
 * module computes the name of has to be granted by the policy of its tool.
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
      if (folder === undefined) queue.push(found)
      else packages.add(folder)
    }
  }
  return { path, read: [...files, ...packages] }
}

/** The module itself, links resolved. */
export const realFile = (tool: string, module: string): string => {
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

/** Node asks the nearest package.json whether a file is a module. */
export const packageSettings = (file: string): readonly string[] => {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const settings = `${folder === '/' ? '' : folder}/package.json`
    if (existsSync(settings)) return [settings]
    if (folder === '/') return []
  }
}

const importsOf = (file: string): readonly string[] => {
  const text = /\.[cm]?js$/.test(file) ? readFileSync(file, 'utf8') : ''
  const found: string[] = []
  const visit = (node: AnyNode): void => {
    const source = sourceOf(node)
    if (source?.type === 'Literal' && typeof source.value === 'string') found.push(source.value)
    for (const child of childrenOf(node)) visit(child)
  }
  const program = parsed(text)
  if (program !== undefined) visit(program as AnyNode)
  return found
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

/** A file that cannot be read as JavaScript fails in the cell, with Node's own words. */
const parsed = (text: string): Node | undefined => {
  for (const sourceType of ['module', 'script'] as const) {
    try {
      return parse(text, { ecmaVersion: 'latest', sourceType, allowHashBang: true, allowReturnOutsideFunction: true })
    } catch {
      continue
    }
  }
  return undefined
}
