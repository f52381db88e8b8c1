// Finds the tools that a file declares, and reads what can be read of them.
import ts from 'typescript'

import { bare, declarationsOf } from './declarations.js'
import { TOOL_MAKERS, makerIn } from './origin.js'
import type { Origins } from './origin.js'
import { startOf } from './tool-start.js'
import type { Start, ToolKind } from './tool-start.js'
import { memberOf } from './values.js'
import type { Values } from './values.js'

export interface ToolSite extends Start {
  readonly call: ts.CallExpression
  readonly kind: ToolKind
  readonly name: string | undefined
  /** The options, one by one. */
  readonly options: ts.Expression
  /** Undefined: it has none, or it is in a part of the options that is computed. */
  readonly policy: ts.Expression | undefined
  /** No part of the options is computed. */
  readonly isWritten: boolean
}

/** The function of Cordon that a call makes a tool with. */
export const toolMaker = (
  { expression }: ts.CallExpression,
  origins: Origins,
  checker: ts.TypeChecker,
): string | undefined => {
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression
  return makerIn(origins.of(expression), TOOL_MAKERS) ?? (ts.isIdentifier(name) ? declared(name, checker) : undefined)
}

/** The files of the core and of `@cordon/mcp` that declare tools, installed or in a checkout. */
const OF_CORDON = /\/(?:cordon|@cordon\/mcp|packages\/(?:core|mcp))\/(?:dist|src)\/(?:runtime|server)\//

/** By its declaration, if a package of others exports a function of Cordon again. */
const declared = (name: ts.Identifier, checker: ts.TypeChecker): string | undefined => {
  const symbol = checker.getSymbolAtLocation(name)
  const [declaration] = symbol === undefined ? [] : declarationsOf(checker, symbol)
  const own = declaration === undefined ? undefined : ts.getNameOfDeclaration(declaration)?.getText()
  return own !== undefined && TOOL_MAKERS.includes(own) && OF_CORDON.test(declaration?.getSourceFile().fileName ?? '')
    ? own
    : undefined
}

export const readToolSite = (
  call: ts.CallExpression,
  maker: string,
  values: Values,
  origins: Origins,
  program: ts.Program,
): ToolSite => {
  const given = call.arguments.find((each) => values.property(each, 'name') !== undefined)
  const options = given ?? call.arguments.at(-1) ?? call.expression
  const name = values.property(options, 'name')
  const kind = kindOf(maker, options, values)
  const isWritten = isWrittenOut(options, values)
  const { start, isModule, unseen } = startOf({ call, kind, options, isWritten, values, origins, program })
  return {
    call,
    kind,
    options,
    isWritten,
    name: name === undefined ? undefined : values.constant(name),
    policy: values.property(options, 'policy'),
    start,
    isModule,
    unseen,
  }
}

const kindOf = (maker: string, options: ts.Expression, values: Values): ToolKind => {
  if (maker === 'containerTool') return 'container'
  if (maker === 'wasmTool') return 'wasm'
  if (maker === 'processTool' || memberOf(options, 'command', values) !== undefined) return 'process'
  return values.property(options, 'inProcess')?.kind === ts.SyntaxKind.TrueKeyword ? 'in-process' : 'function'
}

/** Whether an object and everything that is spread into it is written out. */
const isWrittenOut = (expression: ts.Expression, values: Values): boolean => {
  const inner = bare(expression)
  if (ts.isObjectLiteralExpression(inner))
    return inner.properties.every((each) => !ts.isSpreadAssignment(each) || isWrittenOut(each.expression, values))
  const initial = values.initial(inner)
  return initial !== undefined && isWrittenOut(initial, values)
}
