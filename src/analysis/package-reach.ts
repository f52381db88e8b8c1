// What a package can do, by the modules of Node that its files and those of its dependencies load. Known packages come
// from a table. Of others the files are searched that their entry reaches.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'

import ts from 'typescript'

export type Reach = 'files' | 'hosts' | 'programs' | 'variables' | 'opaque'

export interface PackageReach {
  readonly reaches: ReadonlySet<Reach>
  /** It has more files than are searched, or one that cannot be found. */
  readonly isIncomplete: boolean
}

/** Packages that only compute, of which everybody knows it. */
const HARMLESS: ReadonlySet<string> = new Set(
  'ajv date-fns fast-deep-equal immer lodash lodash-es ms nanoid semver valibot yaml zod'.split(' '),
)

const MODULES: Readonly<Record<string, Reach>> = {
  'fs': 'files',
  'fs/promises': 'files',
  'sqlite': 'files',
  'child_process': 'programs',
  'cluster': 'programs',
  'http': 'hosts',
  'https': 'hosts',
  'http2': 'hosts',
  'net': 'hosts',
  'tls': 'hosts',
  'dgram': 'hosts',
  'dns': 'hosts',
  'dns/promises': 'hosts',
  'vm': 'opaque',
  'worker_threads': 'opaque',
  'inspector': 'opaque',
  'wasi': 'opaque',
}

const MOST_FILES = 1_000

/** `from`: the file that imports it. Undefined if it cannot be found from there. */
export const reachOfPackage = (name: string, from: string): PackageReach | undefined => {
  if (HARMLESS.has(name)) return { reaches: new Set(), isIncomplete: false }
  const entry = resolved(name, from)
  if (entry === undefined) return undefined
  const installed = installationOf(entry)
  const known = searched.get(entry)
  if (known !== undefined && known.installed === installed) return known.found
  const found = search(entry)
  searched.set(entry, { installed, found })
  return found
}

/**
 * In memory only: the scripts of packages could write into a file, and so hide what their package reaches. By the path
 * of the entry, until packages are installed anew. An editor keeps this process for days.
 */
const searched = new Map<string, { readonly installed: string; readonly found: PackageReach }>()

/** Package managers write these whenever they install something. The files have the integrity of every package. */
const LOCKS = ['node_modules/.package-lock.json', 'node_modules/.modules.yaml', 'node_modules/.yarn-state.yml']

const installationOf = (entry: string): string => {
  const folder = entry.slice(0, Math.max(0, entry.indexOf('/node_modules/')))
  return LOCKS.map((name) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false })
    return found === undefined ? '' : `${found.ino}:${found.mtimeMs}:${found.size}`
  }).join()
}

interface SearchedFile {
  readonly specifiers: readonly string[]
  readonly reaches: ReadonlySet<Reach>
}

/** By the hash of its content: nothing but the same text has the same answer. */
const searchedFiles = new Map<string, SearchedFile>()

const search = (entry: string): PackageReach => {
  const reaches = new Set<Reach>()
  const files = new Set([entry])
  let isIncomplete = false
  for (const file of files) {
    if (files.size > MOST_FILES) {
      isIncomplete = true
      break
    }
    if (file.endsWith('.node')) reaches.add('opaque')
    if (!/\.[cm]?js$/.test(file)) continue
    const { specifiers, reaches: own } = searchFile(file)
    for (const reach of own) reaches.add(reach)
    for (const specifier of specifiers) {
      const next = isBuiltin(specifier) ? undefined : resolved(specifier, file)
      if (next !== undefined) files.add(next)
      else if (isBuiltin(specifier)) {
        const reach = MODULES[specifier.replace(/^node:/, '')]
        if (reach !== undefined) reaches.add(reach)
      } else isIncomplete = true
    }
  }
  return { reaches, isIncomplete }
}

/** The modules that a file names, and what it does without any. */
const searchFile = (file: string): SearchedFile => {
  const text = readFileSync(file, 'utf8')
  const hash = createHash('sha256').update(text).digest('base64')
  const known = searchedFiles.get(hash) ?? searchText(file, text)
  searchedFiles.set(hash, known)
  return known
}

const searchText = (file: string, text: string): SearchedFile => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  const reaches = new Set<Reach>()
  const found: string[] = []
  const take = (specifier: ts.Expression | undefined): void => {
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) found.push(specifier.text)
    else reaches.add('opaque')
  }
  const look = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined)
      take(node.moduleSpecifier)
    else if (ts.isCallExpression(node)) {
      const { expression, arguments: given } = node
      const isRequire = ts.isIdentifier(expression) && expression.text === 'require'
      if (isRequire || expression.kind === ts.SyntaxKind.ImportKeyword) take(given[0])
      if (ts.isIdentifier(expression) && expression.text === 'fetch') reaches.add('hosts')
      if (ts.isIdentifier(expression) && expression.text === 'eval') reaches.add('opaque')
    } else if (ts.isNewExpression(node) && ts.isIdentifier(node.expression)) {
      if (node.expression.text === 'Function') reaches.add('opaque')
      if (node.expression.text === 'WebSocket') reaches.add('hosts')
    } else if (ts.isPropertyAccessExpression(node) && node.name.text === 'env')
      if (ts.isIdentifier(node.expression) && node.expression.text === 'process') reaches.add('variables')
    ts.forEachChild(node, look)
  }
  look(source)
  return { specifiers: found, reaches }
}

/** As Node finds it, for imports and for require. */
const resolved = (specifier: string, from: string): string | undefined => {
  try {
    return realpathSync(createRequire(from).resolve(specifier))
  } catch {
    return specifier.startsWith('.') ? undefined : entryByHand(specifier, from)
  }
}

/** A package that has an entry for imports alone. */
const entryByHand = (name: string, from: string): string | undefined => {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name)
    const manifest = join(place, 'package.json')
    if (existsSync(manifest)) {
      const { module, main, exports } = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>
      const entry = importEntry(exports) ?? module ?? main ?? 'index.js'
      const file = typeof entry === 'string' ? join(place, entry) : ''
      return existsSync(file) ? realpathSync(file) : undefined
    }
    if (folder === dirname(folder)) return undefined
  }
}

const importEntry = (exports: unknown): string | undefined => {
  if (typeof exports === 'string') return exports
  if (typeof exports !== 'object' || exports === null) return undefined
  const found = exports as Readonly<Record<string, unknown>>
  return importEntry(found['.'] ?? found['node'] ?? found['import'] ?? found['default'])
}
