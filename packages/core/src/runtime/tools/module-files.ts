// Finds the files that a module imports, so that its tool may read them and not the project around them.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { basename, dirname, resolve } from 'node:path'

import { parse } from 'acorn'
import type { AnyNode } from 'acorn'

import { fail } from '../../errors/index.js'
import { jsonOfFile, realPathOf } from '../../platform/index.js'
import { parseAbsolutePath } from '../../policy/index.js'
import { isMapping } from '../../shapes/index.js'

import { linksOnTheWay, placeOfPackage } from '../own-files/index.js'
import { childrenOf } from './free-variables.js'
import { requireTypesStripped, withoutTypes } from './typescript-modules.js'

interface ModuleFiles {
  readonly path: string
  /** The module, its imports, and the `node_modules` folders of imported packages. */
  readonly read: readonly string[]
  /** Links on the way to imported packages, such as a `node_modules` that is one. */
  readonly links: readonly string[]
  /** All files of its code, also those that the policy has to grant. Packages are not among them. */
  readonly code: readonly string[]
  /** The folders of the imported packages. */
  readonly packages: readonly string[]
  /** What `code` may lack: "imports with a computed name in a.mjs". */
  readonly gaps: readonly string[]
}

const MOST_FILES = 2_000

/**
 * Follows literal imports (`import`, `export … from`, `import('…')`, `require('…')`) of code within the package. The
 * tool's policy has to grant everything else: imports with a computed name, and files elsewhere. Otherwise a module
 * could give itself any file by naming it.
 */
export const moduleFiles = (tool: string, module: string): ModuleFiles => {
  const path = realFile(tool, module)
  const [code, read, folders] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const [links, packages, gaps] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const [own, elsewhere] = [[path], [] as string[]]
  const visit = (file: string, isOwn: boolean): void => {
    if (code.has(file)) return
    if (code.size >= MOST_FILES) {
      gaps.add(`some files of its module, which has more than ${MOST_FILES}`)
      return
    }
    const settings = packageSettings(file)
    for (const each of [file, ...settings]) {
      code.add(each)
      if (isOwn) read.add(each)
    }
    const { names, gap } = importsOf(file)
    if (gap !== undefined) gaps.add(`${gap} in ${basename(file)}`)
    const find = createRequire(file).resolve
    const chosen = choicesOf(names, settings[0])
    if (chosen.isUnknown) gaps.add(`imports that its package.json chooses in ${basename(file)}`)
    for (const name of chosen.names) {
      if (isBuiltin(name)) continue
      const place = IS_PATH.test(name) ? undefined : packageNamed(name, file)
      // A package may have files for `import` alone, which `require` does not find.
      const found = resolved(find, name) ?? (place === undefined ? undefined : realPathOf(place))
      if (found === undefined) continue // the error in the cell names it
      if (place !== undefined) for (const link of linksOnTheWay(parseAbsolutePath(place))) links.add(link)
      const folder = packageFolder(found)
      if (folder === undefined && found === realPathOf(place ?? ''))
        gaps.add(`imports that its package.json chooses in ${basename(file)}`)
      if (folder !== undefined) {
        folders.add(folder)
        // Node remembers what it has resolved. The place is looked up anew each time.
        packages.add(place ?? packageRoot(found))
      } else if (IS_CODE.test(found)) {
        const mayRead = isOwn && (!IS_PATH.test(name) || isWithin(found, packageRoot(file)))
        ;(mayRead ? own : elsewhere).push(found)
      }
    }
  }
  for (let file = own.pop(); file !== undefined; file = own.pop()) visit(file, true)
  for (let file = elsewhere.pop(); file !== undefined; file = elsewhere.pop()) visit(file, false)
  return {
    path,
    read: [...read, ...folders],
    links: [...links],
    code: [...code],
    packages: [...packages],
    gaps: [...gaps],
  }
}

const IS_CODE = /\.(?:[cm]?[jt]s|json|node|wasm)$/
/** Any other name is of a package. One of the same workspace may be a link to a folder beside. */
const IS_PATH = /^(?:\.|\/|file:)/

const isWithin = (path: string, folder: string): boolean => path.startsWith(folder === '/' ? folder : `${folder}/`)

/** Without a package.json it is the folder of the file. */
const packageRoot = (file: string): string => dirname(packageSettings(file)[0] ?? file)

/** The module itself, links resolved. */
export const realFile = (tool: string, module: string): string => {
  const path = realPathOf(module)
  if (path === undefined) throw fail('module-unreadable', { tool, module, cwd: process.cwd() })
  requireTypesStripped(tool, path)
  return path
}

/**
 * The names with every file that `#name` could mean: `imports` of a package.json may choose by conditions. So may
 * `exports` of the package itself, which it can import by its own name.
 */
const choicesOf = (
  names: readonly string[],
  settings: string | undefined,
): { readonly names: readonly string[]; readonly isUnknown: boolean } => {
  const read = settings === undefined ? undefined : jsonOfFile(settings)
  const { imports, name: own, exports } = isMapping(read) ? read : {}
  let isUnknown = false
  const all = names.flatMap((name) => {
    if (typeof own === 'string' && (name === own || name.startsWith(`${own}/`)) && isMapping(exports)) isUnknown = true
    if (!name.startsWith('#')) return [name]
    const targets = isMapping(imports) ? leavesOf(imports[name]) : []
    if (targets.length === 0) {
      isUnknown = true
      return [name]
    }
    return targets.map((target) => (IS_PATH.test(target) ? resolve(dirname(settings ?? '/'), target) : target))
  })
  return { names: all, isUnknown }
}

const leavesOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(leavesOf)
  return isMapping(value) ? Object.values(value).flatMap(leavesOf) : []
}

const resolved = (find: NodeJS.RequireResolve, name: string): string | undefined => {
  try {
    return realpathSync(find(name))
  } catch {
    return undefined
  }
}

/** The outermost `node_modules` of a path: packages find theirs beside them. */
const packageFolder = (path: string): string | undefined => {
  const at = path.indexOf('/node_modules/')
  return at === -1 ? undefined : `${path.slice(0, at)}/node_modules`
}

/** Where Node finds a package that a file imports. */
export const packageNamed = (name: string, file: string): string | undefined => {
  const [first = '', second = ''] = name.split('/')
  return placeOfPackage(first.startsWith('@') ? `${first}/${second}` : first, dirname(file))
}

/** Node reads the nearest package.json to see whether a file is a module. */
export const packageSettings = (file: string): readonly string[] => {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const settings = `${folder === '/' ? '' : folder}/package.json`
    if (existsSync(settings)) return [settings]
    if (folder === '/') return []
  }
}

const importsOf = (file: string): { readonly names: readonly string[]; readonly gap: string | undefined } => {
  const names: string[] = []
  let gap: string | undefined
  const visit = (node: AnyNode): void => {
    const source = sourceOf(node)
    if (source?.type === 'Literal' && typeof source.value === 'string') names.push(source.value)
    else if (source !== undefined) gap = 'imports with a computed name'
    for (const child of childrenOf(node)) visit(child)
  }
  const text = textOf(file)
  const program = text === undefined ? undefined : parsed(text)
  if (program !== undefined) visit(program)
  else if (text !== undefined) gap = 'imports that cannot be read'
  return { names, gap }
}

/** As JavaScript. Undefined for a file that imports nothing. */
const textOf = (file: string): string | undefined => {
  if (/\.[cm]?js$/.test(file)) return readFileSync(file, 'utf8')
  return /\.[cm]?ts$/.test(file) ? withoutTypes(readFileSync(file, 'utf8')) : undefined
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
