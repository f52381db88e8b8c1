// Finds the tools that a file declares with `tool(…)` and `processTool(…)`, and reads what can be read of them.
import ts from 'typescript'

import { bare, declarationsOf } from './declarations.js'
import { exportedDeclarations, fileNamed } from './modules.js'
import type { Values } from './values.js'
import { propertyName } from './values.js'

export interface ToolSite {
  readonly call: ts.CallExpression
  readonly kind: 'function' | 'process' | 'in-process'
  readonly name: string | undefined
  /** The options, one by one. */
  readonly options: ts.Expression
  /** Undefined: it has none. */
  readonly policy: ts.Expression | undefined
  /** Where its code begins. Undefined: not in the text of the program. */
  readonly start: ts.Node | undefined
  /** Its code is a module, whose top runs too. */
  readonly isModule: boolean
}

const MAKERS: ReadonlySet<string> = new Set(['tool', 'processTool', 'sandboxedTool'])

/** Whether a call makes a tool of Cordon. */
export const isToolCall = (call: ts.CallExpression, checker: ts.TypeChecker): boolean => {
  const { expression } = call
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression
  if (!ts.isIdentifier(name)) return false
  const symbol = checker.getSymbolAtLocation(name)
  return symbol !== undefined && MAKERS.has(importedName(symbol, name)) && comesFromCordon(symbol, checker)
}

const importedName = (symbol: ts.Symbol, name: ts.Identifier): string => {
  const [declaration] = symbol.declarations ?? []
  return declaration !== undefined && ts.isImportSpecifier(declaration)
    ? (declaration.propertyName ?? declaration.name).text
    : name.text
}

/** By the name of the package in the import, so that it works before anything is installed or built. */
const comesFromCordon = (symbol: ts.Symbol, checker: ts.TypeChecker): boolean =>
  (symbol.declarations ?? []).some((declaration) => {
    const specifier = ts.findAncestor(declaration, ts.isImportDeclaration)?.moduleSpecifier
    return specifier !== undefined && ts.isStringLiteral(specifier) && /^cordon(?:\/|$)/.test(specifier.text)
  }) ||
  declarationsOf(checker, symbol).some((each) =>
    /\/cordon\/(?:dist|src)\/(?:runtime|mcp-server)\//.test(each.getSourceFile().fileName),
  )

/** Undefined if the options are not written out. */
export const readToolSite = (call: ts.CallExpression, values: Values, program: ts.Program): ToolSite | undefined => {
  const options = call.arguments.find((each) => values.property(each, 'name') !== undefined)
  if (options === undefined) return undefined
  const name = values.property(options, 'name')
  const policy = values.property(options, 'policy')
  const inProcess = values.property(options, 'inProcess')
  const command = memberOf(options, 'command', values)
  const kind =
    command !== undefined ? 'process' : inProcess?.kind === ts.SyntaxKind.TrueKeyword ? 'in-process' : 'function'
  return {
    ...{ call, kind, options, policy },
    name: name === undefined ? undefined : values.constant(name),
    start: command ?? memberOf(options, 'run', values) ?? moduleExport(options, values, program),
    isModule: values.property(options, 'module') !== undefined,
  }
}

/** A property, or a method of that name. */
const memberOf = (options: ts.Expression, name: string, values: Values): ts.Node | undefined => {
  const written = bare(options)
  const method = ts.isObjectLiteralExpression(written)
    ? written.properties.find((each) => ts.isMethodDeclaration(each) && propertyName(each.name) === name)
    : undefined
  return method ?? values.property(options, name)
}

/** `module` and `export`: the declaration in that file. */
const moduleExport = (options: ts.Expression, values: Values, program: ts.Program): ts.Node | undefined => {
  const module = values.property(options, 'module')
  const exported = values.property(options, 'export')
  const path = module === undefined ? undefined : values.constant(module)
  if (path === undefined) return undefined
  const file = fileNamed(program, path, options.getSourceFile().fileName)
  const checker = program.getTypeChecker()
  const symbol = file === undefined ? undefined : checker.getSymbolAtLocation(file)
  const name = exported === undefined ? 'default' : values.constant(exported)
  const found = (symbol === undefined ? [] : checker.getExportsOfModule(symbol)).find((each) => each.name === name)
  const [declaration] = found === undefined ? [] : exportedDeclarations(checker, found)
  return declaration === undefined ? file : (functionOf(declaration) ?? declaration)
}

/** `export const made = () => …` */
const functionOf = (declaration: ts.Declaration): ts.Node | undefined =>
  ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined
