// Visits calls: of things outside of the project, which do something, and of functions of the project.
import ts from 'typescript'

import { bare, isOwnCode } from './declarations.js'
import { deedsOf, mentionedDeeds } from './deeds.js'
import { callableOf, isFunction } from './node-kinds.js'
import { TOOL_MAKERS, isRequire, makerIn } from './origin.js'
import type { Origin } from './origin.js'
import type { Deed } from './use.js'
import { propertyName } from './values.js'
import type { Chain, Walk } from './walk.js'

export type Visit = (node: ts.Node, chain: Chain) => void

export interface CallVisitor {
  readonly visitCall: (call: ts.CallExpression | ts.NewExpression, chain: Chain) => void
  /** What something of Node is taken from, if that is code of the project. */
  readonly visitHolder: (node: ts.Expression, chain: Chain) => void
}

export const createCallVisitor = (walk: Walk, visit: Visit): CallVisitor => {
  const { checker, values, origins, enterByName, enterModule, enterDeclaration, enterMember, callByName } = walk
  const { mentionName, mention, noteCall, noteUnseen, declarations, use, opaque, writtenTable } = walk

  const visitHolder = (node: ts.Expression, chain: Chain): void => {
    const inner = bare(node)
    if (ts.isElementAccessExpression(inner)) visit(inner.argumentExpression, chain)
    if (!ts.isElementAccessExpression(inner) && !ts.isPropertyAccessExpression(inner)) return
    if (origins.of(inner.expression).length === 0) visit(inner.expression, chain)
    else visitHolder(inner.expression, chain)
  }

  const visitCall = (call: ts.CallExpression | ts.NewExpression, chain: Chain): void => {
    const { expression: callee } = call
    const args = [...(call.arguments ?? [])]
    if (callee.kind === ts.SyntaxKind.ImportKeyword) {
      if (args[0] !== undefined) enterModule(args[0], chain)
      if (ts.isCallExpression(call)) mention(call, chain)
      for (const each of args) visit(each, chain)
      return
    }
    if (args[0] !== undefined && origins.of(callee).some(isRequire)) enterModule(args[0], chain)
    const whole = ts.isCallExpression(call) ? origins.of(call) : []
    if (whole.length > 0 && ts.isCallExpression(call)) {
      // require(), promisify(), bind(): what they return is the thing itself.
      mention(call, chain)
      if (ts.isPropertyAccessExpression(callee) && callee.name.text === 'bind') return
      for (const each of args) if (origins.of(each).length === 0) visit(each, chain)
      return
    }
    const [callable, shift] = calledFunction(callee)
    const found = origins.of(callable)
    if (found.length > 0) {
      const deeds = (origin: Origin): readonly Deed[] =>
        shift === 'apply' ? mentionedDeeds(origin) : deedsOf(origin, args.slice(shift), values)
      use(() => found.flatMap(deeds), call, chain)
      visitHolder(callable, chain)
    } else visitCallee(callee, call, chain)
    if (makerIn(found, AGENT_MAKERS) !== undefined) {
      for (const each of args) visitOptions(each, chain)
      return
    }
    const isOutside = found.length > 0 || !isOwnCallee(callee)
    for (const each of args) {
      if (isOutside) visitGivenAway(each, chain)
      else visit(each, chain)
    }
  }

  /** The functions in the options of an agent or another tool run in the agent, or in a cell of their own. */
  const visitOptions = (option: ts.Expression, chain: Chain): void => {
    const inner = bare(option)
    if (ts.isObjectLiteralExpression(inner)) {
      for (const each of inner.properties) if (ts.isPropertyAssignment(each)) visitOptions(each.initializer, chain)
    } else if (ts.isArrayLiteralExpression(inner)) for (const each of inner.elements) visitOptions(each, chain)
    else if (ts.isCallExpression(inner) || ts.isNewExpression(inner)) visitCall(inner, chain)
  }

  const isOwnCallee = (callee: ts.Expression): boolean => {
    const inner = bare(callee)
    const name = ts.isPropertyAccessExpression(inner) ? inner.name : inner
    return declarations(name).some(isOwnCode)
  }

  /** Code of others may call every function of an object that it gets. */
  const visitGivenAway = (argument: ts.Expression, chain: Chain): void => {
    const inner = bare(argument)
    if (!ts.isObjectLiteralExpression(inner)) {
      const table = ts.isIdentifier(inner) ? writtenTable(inner) : undefined
      if (table !== undefined) visitFunctionsOf(table, chain)
      visit(argument, chain)
      return
    }
    visitFunctionsOf(inner, chain)
    visit(inner, chain)
  }
  const visitFunctionsOf = (object: ts.ObjectLiteralExpression, chain: Chain): void => {
    for (const each of object.properties) {
      const value = ts.isPropertyAssignment(each) ? bare(each.initializer) : each
      if (isFunction(value) || ts.isAccessor(value)) enterByName(value, chain, each.name?.getText() ?? '')
    }
  }

  const visitCallee = (callee: ts.Expression, call: ts.CallExpression | ts.NewExpression, chain: Chain): void => {
    const inner = bare(callee)
    if (ts.isElementAccessExpression(inner)) {
      visitComputedCall(inner, chain)
      return
    }
    const name = ts.isIdentifier(inner) ? inner : ts.isPropertyAccessExpression(inner) ? inner.name : undefined
    if (ts.isPropertyAccessExpression(inner)) {
      if (inner.name.text === 'constructor') opaque('it calls a constructor by its property', inner, chain)
      visit(inner.expression, chain)
      mentionName(inner.name.text)
    }
    if (name === undefined) {
      visit(callee, chain)
      return
    }
    noteUnseen(name, chain)
    const declared = declarations(name)
    if (!declared.some((each) => callableOf(each) !== undefined)) callByName(name.text)
    for (const declaration of declared) {
      const callable = callableOf(declaration)
      if (callable !== undefined && ts.isCallExpression(call)) {
        noteCall(callable, call)
      }
      enterDeclaration(declaration, chain, ts.isCallExpression(call))
    }
  }

  /** `table[name](…)`: fine for the members of an object that is written out, if the name is one of them. */
  const visitComputedCall = (access: ts.ElementAccessExpression, chain: Chain): void => {
    const { expression: object, argumentExpression: key } = access
    visit(object, chain)
    visit(key, chain)
    const keyType = checker.getTypeAtLocation(key)
    const literals = (keyType.isUnion() ? keyType.types : [keyType]).flatMap((type) =>
      type.isStringLiteral() ? [type.value] : [],
    )
    const isNumber = (keyType.flags & (ts.TypeFlags.NumberLike | ts.TypeFlags.ESSymbolLike)) !== 0
    const table = writtenTable(object)
    if (table !== undefined) {
      for (const each of table.properties) {
        const name = each.name === undefined ? undefined : propertyName(each.name)
        if (name !== undefined) callByName(name)
      }
      return
    }
    const isKnown = literals.length === (keyType.isUnion() ? keyType.types.length : 1)
    if (isKnown)
      for (const name of literals) {
        callByName(name)
        enterMember(object, name, chain)
      }
    if (isKnown && !literals.includes('constructor')) return
    if (!isNumber) opaque('it calls a member with a computed name', access, chain)
  }

  return { visitCall, visitHolder }
}

const AGENT_MAKERS: readonly string[] = ['createCordon', ...TOOL_MAKERS]

/** `f.call(this, a)` calls f, with its arguments one place further. */
const calledFunction = (callee: ts.Expression): readonly [ts.Expression, number | 'apply'] => {
  const inner = bare(callee)
  if (!ts.isPropertyAccessExpression(inner)) return [inner, 0]
  if (inner.name.text === 'call') return [inner.expression, 1]
  return inner.name.text === 'apply' ? [inner.expression, 'apply'] : [inner, 0]
}
