// Finds declarations of the packages that no program, other package or script imports, and that no page of the manual
// names. It follows names in the syntax tree. A local name that equals a declaration counts as a use of it.
import { posix } from 'node:path'

import ts from 'typescript'

import type { SourceFile } from './source-tree.js'

export interface Roots {
  /** Files that a program starts with. */
  readonly programs: readonly string[]
  /** The source of each public entry, by what others import: `cordon/policy`. */
  readonly entries: ReadonlyMap<string, string>
  /** Files whose exports are public where the manual names them. Types are public wherever something uses them. */
  readonly publicFiles: readonly string[]
  readonly manual: string
  /** Scripts beside src/, which import public entries or what was compiled to dist/. */
  readonly scripts: readonly SourceFile[]
}

/** `packages/core/src/policy/index.ts policyHash`: a declaration, or an export of one that is declared elsewhere. */
type Name = string

interface Module {
  /** What each name refers to. Statements that declare nothing go by the empty name. */
  readonly uses: ReadonlyMap<string, ReadonlySet<Name>>
  /** Types that are declared elsewhere. */
  readonly passedTypes: ReadonlySet<string>
}

/** In place of a name, where a module is loaded late in a way that does not show what is used of it. */
const EVERYTHING = '*'

export const unusedDeclarations = (files: readonly SourceFile[], roots: Roots): readonly string[] => {
  const modules = new Map(files.map((file) => [file.path, readModule(file, roots.entries)]))
  const namesIn = (path: string): readonly Name[] =>
    [...(modules.get(path)?.uses.keys() ?? [])].map((name) => nameOf(path, name))
  const used = new Set<Name>()
  const waiting: Name[] = [
    // Whatever a file does when it is loaded, it does for its importers.
    ...Array.from(modules.keys(), (path) => nameOf(path, '')),
    ...roots.programs.flatMap(namesIn),
    ...roots.publicFiles.flatMap(namesIn).filter((name) => new RegExp(`\\b${localOf(name)}\\b`).test(roots.manual)),
    ...roots.scripts
      .flatMap((script) => [...readModule(script, roots.entries).uses.values()].flatMap((names) => [...names]))
      .map((name) => name.replace(/^(packages\/[^/]+)\/dist\//, '$1/src/')),
  ]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (used.has(name)) continue
    used.add(name)
    if (localOf(name) === EVERYTHING) waiting.push(...namesIn(fileOf(name)))
    waiting.push(...(modules.get(fileOf(name))?.uses.get(localOf(name)) ?? []))
  }
  /** A type that a public file passes on, with all on its way from where it is declared. */
  const wayOf = (name: Name): readonly Name[] => {
    const { uses, passedTypes } = modules.get(fileOf(name)) ?? {}
    return passedTypes?.has(localOf(name)) === true
      ? [name, ...[...(uses?.get(localOf(name)) ?? [])].flatMap(wayOf)]
      : [name]
  }
  const usedTypes = roots.publicFiles
    .flatMap(namesIn)
    .map(wayOf)
    .filter((way) => used.has(way.at(-1) ?? ''))
  const all = new Set([...used, ...usedTypes.flat()])
  return [...modules.keys()].flatMap(namesIn).filter((name) => !all.has(name))
}

const nameOf = (path: string, name: string): Name => `${path} ${name}`
const fileOf = (name: Name): string => name.split(' ')[0] ?? ''
const localOf = (name: Name): string => name.split(' ')[1] ?? ''

const readModule = ({ path, text }: SourceFile, entries: Roots['entries']): Module => {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const from = (specifier: ts.Expression): string => {
    if (!ts.isStringLiteral(specifier)) return ''
    if (!specifier.text.startsWith('.')) return entries.get(specifier.text) ?? ''
    return posix.join(posix.dirname(path), specifier.text).replace(/\.js$/, '.ts')
  }
  const imported = new Map<string, Name>()
  const passedTypes = new Set<string>()
  const uses = new Map<string, Set<Name>>()
  for (const statement of statements) {
    if (ts.isImportDeclaration(statement)) {
      const names = statement.importClause?.namedBindings
      if (names === undefined || !ts.isNamedImports(names)) continue
      for (const { name, propertyName } of names.elements)
        imported.set(name.text, nameOf(from(statement.moduleSpecifier), (propertyName ?? name).text))
    } else if (ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined) {
      if (statement.exportClause === undefined || !ts.isNamedExports(statement.exportClause)) continue
      for (const { name, propertyName } of statement.exportClause.elements) {
        uses.set(name.text, new Set([nameOf(from(statement.moduleSpecifier), (propertyName ?? name).text)]))
        if (statement.isTypeOnly) passedTypes.add(name.text)
      }
    }
  }
  const local = new Set(statements.flatMap(declaredBy))
  for (const statement of statements) {
    if (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) continue
    const found = new Set<Name>()
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) {
        const other = imported.get(node.text) ?? (local.has(node.text) ? nameOf(path, node.text) : undefined)
        if (other !== undefined) found.add(other)
      }
      if (
        ts.isCallExpression(node) &&
        node.expression.kind === ts.SyntaxKind.ImportKeyword &&
        node.arguments[0] !== undefined
      )
        for (const name of takenFrom(node)) found.add(nameOf(from(node.arguments[0]), name))
      node.forEachChild(visit)
    }
    visit(statement)
    const declared = declaredBy(statement)
    for (const name of declared.length === 0 ? [''] : declared)
      uses.set(name, new Set([...(uses.get(name) ?? []), ...found]))
  }
  return { uses, passedTypes }
}

/** What is used of `import('./a.js')`: `(await import('./a.js')).run` or `const { run } = await import('./a.js')`. */
const takenFrom = (call: ts.CallExpression): readonly string[] => {
  let around: ts.Node = call.parent
  while (ts.isAwaitExpression(around) || ts.isParenthesizedExpression(around)) around = around.parent
  if (ts.isPropertyAccessExpression(around)) return [around.name.text]
  if (!ts.isVariableDeclaration(around) || !ts.isObjectBindingPattern(around.name)) return [EVERYTHING]
  return around.name.elements.map(({ name, propertyName }) => (propertyName ?? name).getText())
}

const declaredBy = (statement: ts.Statement): readonly string[] => {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => boundBy(name))
  const isDeclaration =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement)
  return isDeclaration && statement.name !== undefined ? [statement.name.text] : []
}

const boundBy = (name: ts.BindingName): readonly string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundBy(element.name) : []))

/** The imports of these entries that a page shows, each with a use of its names. */
export const examplesIn = (page: string, entries: readonly string[]): readonly string[] =>
  Array.from(page.matchAll(/\bimport (?:type )?\{([^{}]*)\} from '([^']+)'/g), ([statement, names = '', entry = '']) =>
    entries.includes(entry) ? `${statement}\nuse(${names.replaceAll(/\btype |\w+ as /g, '')})` : '',
  ).filter((text) => text !== '')
