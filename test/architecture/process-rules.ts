import ts from 'typescript'

import { OWN_CALLER, isInCell, nameOf } from './rooms.js'
import type { Place } from './rooms.js'
import type { SourceFile } from './source-tree.js'

/** Who may read which members of `process`. */
const READERS: Readonly<Record<string, string>> = { env: 'commands', argv: 'commands', platform: 'core/platform' }

const mayRead = (path: string, place: Place, member: string): boolean => {
  const reader = READERS[member]
  return (
    reader === undefined ||
    reader === place.room ||
    reader === nameOf(place) ||
    (member === 'argv' && path === OWN_CALLER) ||
    (member !== 'platform' && isInCell(path))
  )
}

/** `process.env`, `process['argv']`, `const { env } = process`, `globalThis.process.env` */
export const processProblems = ({ path, text }: SourceFile, place: Place): readonly string[] => {
  if (!text.includes('process')) return []
  const problems: string[] = []
  const check = (name: string) => {
    if (!mayRead(path, place, name)) problems.push(`reads process.${name}; only ${READERS[name]} does`)
  }
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && isProcess(node.expression)) check(node.name.text)
    if (ts.isElementAccessExpression(node) && isProcess(node.expression)) {
      const key = node.argumentExpression
      // A computed name may be any of them.
      check(ts.isStringLiteralLike(key) ? key.text : 'env')
    }
    if (
      ts.isVariableDeclaration(node) &&
      node.initializer !== undefined &&
      isProcess(node.initializer) &&
      ts.isObjectBindingPattern(node.name)
    ) {
      for (const { propertyName, name } of node.name.elements) {
        check((propertyName ?? name).getText())
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  return problems
}

const isProcess = (node: ts.Node): boolean =>
  (ts.isIdentifier(node) && node.text === 'process') ||
  (ts.isPropertyAccessExpression(node) &&
    node.name.text === 'process' &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === 'globalThis')
