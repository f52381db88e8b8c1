// The command line of a process tool, as far as its code has the words as they are. The code is read, not run.
import { parse } from 'acorn'
import type { AnyNode } from 'acorn'

import { asExpression } from '../tools/function-source.js'

/** Null: words that a call gives. Undefined: the code does more than to name words. */
export const writtenCommand = (command: (input: never) => unknown): readonly (string | null)[] | undefined => {
  const source = asExpression(Function.prototype.toString.call(command))
  if (source === undefined) return undefined
  const [statement] = parse(`(${source})`, { ecmaVersion: 'latest', sourceType: 'script' }).body
  const made = statement?.type === 'ExpressionStatement' ? returnedBy(statement.expression) : undefined
  if (made?.type !== 'ArrayExpression') return undefined
  const words = made.elements.map((element) => (element === null ? null : wordOf(element)))
  return words.some((word) => word !== null) ? words : undefined
}

/** `asExpression` writes a method as the only one of an object. */
const returnedBy = (given: AnyNode): AnyNode | undefined => {
  const [method] =
    given.type === 'MemberExpression' && given.object.type === 'ObjectExpression' ? given.object.properties : []
  const node = method?.type === 'Property' ? method.value : given
  if (node.type !== 'ArrowFunctionExpression' && node.type !== 'FunctionExpression') return undefined
  if (node.async || node.generator) return undefined
  if (node.body.type !== 'BlockStatement') return node.body
  const [only, ...others] = node.body.body
  return only?.type === 'ReturnStatement' && others.length === 0 ? (only.argument ?? undefined) : undefined
}

const wordOf = (node: AnyNode): string | null => {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
  return node.type === 'TemplateLiteral' && node.expressions.length === 0
    ? (node.quasis[0]?.value.cooked ?? null)
    : null
}
