// What one file of a package does by itself, and the modules that it names. Its names are followed within the file.
import ts from 'typescript'

import { mentionedDeeds } from './deeds.js'
import { reachOfModule } from './node-effects.js'
import type { Reach } from './node-effects.js'
import { isAlias, isDeclaredName, isNamed } from './node-kinds.js'
import { GLOBALS, createOrigins, isRequire } from './origin.js'
import type { Origin } from './origin.js'
import type { Deed } from './use.js'
import { createValues } from './values.js'

export interface SearchedText {
  readonly specifiers: readonly string[]
  /** The line where it is first seen. */
  readonly reaches: ReadonlyMap<Reach, number>
}

const OPTIONS: ts.CompilerOptions = {
  allowJs: true,
  noLib: true,
  noResolve: true,
  types: [],
  target: ts.ScriptTarget.Latest,
}

export const searchText = (name: string, text: string): SearchedText => {
  // Under a name outside of node_modules: here the code of the package is what counts as own.
  const file = ts.createSourceFile(`/searched${name.slice(name.lastIndexOf('.'))}`, text, ts.ScriptTarget.Latest, true)
  return (RISKY.test(text) ? undefined : loadsOf(file)) ?? searchNames(file)
}

/** A file without any of these words does nothing but load modules. An escape may spell one of them. */
const RISKY = new RegExp(
  `\\b(?:${[...GLOBALS].filter((name) => name !== 'require' && name !== 'module').join('|')})\\b|` +
    '\\\\u|createRequire|worker_threads|[\'"](?:node:)?module[\'"]|\\bmodule\\b(?!\\.exports)',
)

/** Undefined if it does more than load modules by their written names. */
const loadsOf = (file: ts.SourceFile): SearchedText | undefined => {
  const specifiers = new Set<string>()
  const others: ts.Node[] = []
  const load = (specifier: ts.Expression | undefined): void => {
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) specifiers.add(specifier.text)
    else others.push(file)
  }
  const look = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier !== undefined) load(node.moduleSpecifier)
      else ts.forEachChild(node, look)
    } else if (
      ts.isCallExpression(node) &&
      (node.expression.kind === ts.SyntaxKind.ImportKeyword || isNamed(node.expression, 'require'))
    ) {
      load(node.arguments[0])
    } else if (ts.isExternalModuleReference(node)) load(node.expression)
    else if (ts.isIdentifier(node) && node.text === 'require') others.push(node)
    else ts.forEachChild(node, look)
  }
  look(file)
  return others.length > 0 ? undefined : { specifiers: [...specifiers], reaches: new Map() }
}

const searchNames = (file: ts.SourceFile): SearchedText => {
  const checker = checkerOf(file)
  const values = createValues(checker, () => undefined)
  const origins = createOrigins(checker, values.constant)
  const reaches = new Map<Reach, number>()
  const specifiers = new Set<string>()
  const note = (reach: Reach | undefined, node: ts.Node): void => {
    if (reach !== undefined && !reaches.has(reach))
      reaches.set(reach, file.getLineAndCharacterOfPosition(node.getStart()).line + 1)
  }
  const load = (specifier: ts.Expression | undefined, node: ts.Node): void => {
    const named = specifier === undefined ? undefined : values.constant(specifier)
    if (named === undefined) note('opaque', node)
    else specifiers.add(named)
  }
  const mention = (node: ts.Expression): void => {
    for (const origin of origins.of(node)) {
      if (origin.kind === 'module') note(reachOfModule(origin.module), node)
      if (origin.kind === 'computed') note('opaque', node)
      if ((origin.kind === 'module' || origin.kind === 'global') && !isPassedOver(origin, node))
        for (const deed of mentionedDeeds(origin)) note(reachOfDeed(deed), node)
    }
  }
  const look = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isTypeOfExpression(node)) return
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier !== undefined) load(node.moduleSpecifier, node)
      return
    }
    if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference))
      load(node.moduleReference.expression, node)
    if (ts.isCallExpression(node)) {
      const [first] = node.arguments
      const isLoad = node.expression.kind === ts.SyntaxKind.ImportKeyword || origins.of(node.expression).some(isRequire)
      if (isLoad) load(first, node)
      else mention(node)
    }
    if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) mention(node)
    else if (ts.isIdentifier(node) && isValue(node)) mention(node)
    ts.forEachChild(node, look)
  }
  look(file)
  return { specifiers: [...specifiers], reaches }
}

/** `a.b` was looked at as a whole, and an alias is found where it is used. */
const isPassedOver = (origin: Extract<Origin, { kind: 'global' | 'module' }>, node: ts.Expression): boolean => {
  const { parent } = node
  const isHolder =
    (ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent)) && parent.expression === node
  // A module, `process`, `globalThis` and `require` do nothing before a member of them is named.
  const isBare = origin.path.length === 0 || (origin.path.length === 1 && HOLDERS.has(origin.path[0] ?? ''))
  return isBare && (isHolder || isAlias(node) || isCalled(node) || isTested(node))
}

const HOLDERS: ReadonlySet<string> = new Set(['process', 'require', 'module'])

const isCalled = (node: ts.Node): boolean => ts.isCallExpression(node.parent) && node.parent.expression === node

/** `typeof x`, `x && …`, `x ? … : …`, `x === y`: nothing gets the value but what is followed. */
const isTested = ({ parent }: ts.Node): boolean =>
  ts.isBinaryExpression(parent) || ts.isConditionalExpression(parent) || ts.isPrefixUnaryExpression(parent)

const isValue = (name: ts.Identifier): boolean => {
  const { parent } = name
  if (isDeclaredName(name)) return false
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === name
  return !(ts.isPropertyAssignment(parent) && parent.name === name)
}

const reachOfDeed = (deed: Deed): Reach | undefined => {
  switch (deed.kind) {
    case 'read':
    case 'write':
      return 'files'
    case 'network':
      return 'hosts'
    case 'environment':
      return 'variables'
    case 'exec':
      return 'programs'
    case 'opaque':
      return 'opaque'
    case 'package':
      return undefined
  }
}

/** Only names are resolved, and never members: types of a bundle would take seconds. */
const checkerOf = (file: ts.SourceFile): ts.TypeChecker => {
  const host = ts.createCompilerHost(OPTIONS)
  const program = ts.createProgram({
    rootNames: [file.fileName],
    options: OPTIONS,
    host: { ...host, getSourceFile: (path) => (path === file.fileName ? file : undefined), fileExists: () => true },
  })
  const checker = program.getTypeChecker()
  const isMember = ({ parent }: ts.Node, name: ts.Node): boolean =>
    ts.isPropertyAccessExpression(parent) && parent.name === name
  return {
    ...checker,
    getSymbolAtLocation: (node) =>
      ts.isIdentifier(node) && !isMember(node, node) ? checker.getSymbolAtLocation(node) : undefined,
  }
}
