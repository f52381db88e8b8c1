// Values that are written out: the policy of a tool, the words of a command.
import ts from 'typescript'

import { bare } from './declarations.js'
import { propertyName } from './values.js'
import type { Values } from './values.js'

const MOST_DEEP = 20

/** Undefined if a part of it is computed. */
export const literalOf = (given: ts.Expression, values: Values, depth = 0): unknown => {
  const expression = bare(given)
  if (depth > MOST_DEEP) return undefined
  if (expression.kind === ts.SyntaxKind.TrueKeyword) return true
  if (expression.kind === ts.SyntaxKind.FalseKeyword) return false
  if (ts.isNumericLiteral(expression)) return Number(expression.text)
  if (ts.isArrayLiteralExpression(expression)) return arrayOf(expression, values, depth)
  if (ts.isObjectLiteralExpression(expression)) return objectOf(expression, values, depth)
  const text = values.constant(expression)
  if (text !== undefined) return text
  const initial = values.initial(expression)
  return initial === undefined ? undefined : literalOf(initial, values, depth + 1)
}

const arrayOf = (array: ts.ArrayLiteralExpression, values: Values, depth: number): unknown => {
  const found: unknown[] = []
  for (const element of array.elements) {
    const value = literalOf(ts.isSpreadElement(element) ? element.expression : element, values, depth + 1)
    if (value === undefined) return undefined
    if (!ts.isSpreadElement(element)) found.push(value)
    else if (Array.isArray(value)) found.push(...(value as unknown[]))
    else return undefined
  }
  return found
}

const objectOf = (object: ts.ObjectLiteralExpression, values: Values, depth: number): unknown => {
  const found: Record<string, unknown> = {}
  for (const each of object.properties) {
    if (ts.isSpreadAssignment(each)) {
      const value = literalOf(each.expression, values, depth + 1)
      if (typeof value !== 'object') return undefined
      Object.assign(found, value)
      continue
    }
    const name = propertyName(each.name)
    const written = ts.isPropertyAssignment(each)
      ? each.initializer
      : ts.isShorthandPropertyAssignment(each)
        ? each.name
        : undefined
    const value = written === undefined ? undefined : literalOf(written, values, depth + 1)
    if (name === undefined || value === undefined) return undefined
    found[name] = value
  }
  return found
}
