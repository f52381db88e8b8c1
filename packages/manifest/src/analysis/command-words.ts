// The words of a process tool: the lists that its command may return.
import ts from 'typescript'

import { bare, declarationsOf, isOwnCode } from './declarations.js'
import { callableOf } from './node-kinds.js'
import type { Text } from './use.js'
import type { Values } from './values.js'

const MOST_DEEP = 10
/** Methods of a list that keep its first word first. */
const KEEPING: ReadonlySet<string> = new Set(['concat', 'filter'])

/** `start`: the function, or the list itself. Undefined if one of the lists is computed. */
export const commandLists = (
  start: ts.Node,
  values: Values,
  checker: ts.TypeChecker,
): readonly ts.ArrayLiteralExpression[] | undefined => {
  const all = (nodes: readonly ts.Node[], depth: number): readonly ts.ArrayLiteralExpression[] | undefined => {
    const found = nodes.map((node) => listsOf(node, depth + 1))
    return found.length === 0 || found.includes(undefined) ? undefined : found.flatMap((each) => each ?? [])
  }
  const ofName = (name: ts.Node, depth: number): readonly ts.ArrayLiteralExpression[] | undefined => {
    const symbol = checker.getSymbolAtLocation(name)
    const callables = (symbol === undefined ? [] : declarationsOf(checker, symbol))
      .filter(isOwnCode)
      .flatMap((each) => callableOf(each) ?? [])
    return all(callables, depth)
  }
  const listsOf = (node: ts.Node, depth: number): readonly ts.ArrayLiteralExpression[] | undefined => {
    if (depth > MOST_DEEP) return undefined
    if (ts.isFunctionLike(node)) return all(returnedFrom(node), depth)
    const inner = bare(node as ts.Expression)
    if (ts.isArrayLiteralExpression(inner)) return [inner]
    if (ts.isConditionalExpression(inner)) return all([inner.whenTrue, inner.whenFalse], depth)
    if (ts.isCallExpression(inner)) {
      const callee = bare(inner.expression)
      if (ts.isPropertyAccessExpression(callee) && KEEPING.has(callee.name.text)) return all([callee.expression], depth)
      return ofName(ts.isPropertyAccessExpression(callee) ? callee.name : callee, depth)
    }
    const initial = values.initial(inner)
    if (initial !== undefined) return all([initial], depth)
    return ofName(ts.isPropertyAccessExpression(inner) ? inner.name : inner, depth)
  }
  return listsOf(start, 0)
}

/** The programs that a list may name. Undefined if it is empty, or begins with the words of a computed list. */
export const firstWordsOf = (
  { elements: [first] }: ts.ArrayLiteralExpression,
  values: Values,
): readonly Text[] | undefined => {
  if (first === undefined) return undefined
  if (!ts.isSpreadElement(first)) return values.texts(first)
  const spread = bare(first.expression)
  const list = ts.isArrayLiteralExpression(spread) ? spread : values.initial(spread)
  const inner = list === undefined ? undefined : bare(list)
  return inner !== undefined && ts.isArrayLiteralExpression(inner) ? firstWordsOf(inner, values) : undefined
}

const returnedFrom = (start: ts.SignatureDeclaration): readonly ts.Expression[] => {
  const body = 'body' in start ? start.body : undefined
  if (body === undefined) return []
  if (!ts.isBlock(body)) return [body]
  const found: ts.Expression[] = []
  const look = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return
    if (ts.isReturnStatement(node) && node.expression !== undefined) found.push(node.expression)
    ts.forEachChild(node, look)
  }
  ts.forEachChild(body, look)
  return found
}
