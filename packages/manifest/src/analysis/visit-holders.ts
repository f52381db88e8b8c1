// Visits classes and objects. Their methods wait until something mentions their names.
import ts from 'typescript'

import { bare, isOwnCode } from './declarations.js'
import { isFunction } from './node-kinds.js'
import { propertyName } from './values.js'
import type { Visit } from './visit-calls.js'
import type { Chain, Walk } from './walk.js'

export interface HolderVisitor {
  readonly visitClass: (node: ts.ClassLikeDeclaration, chain: Chain) => void
  readonly visitObject: (node: ts.ObjectLiteralExpression, chain: Chain) => void
}

export const createHolderVisitor = (walk: Walk, visit: Visit, visitChildren: Visit): HolderVisitor => {
  const { enterDeclaration, mention, noteUnseen, waitForName, declarations } = walk

  /** Whether a class of others may call the methods of this one. */
  const extendsOutside = (node: ts.ClassLikeDeclaration): boolean =>
    (node.heritageClauses ?? []).some(
      ({ token, types }) =>
        token === ts.SyntaxKind.ExtendsKeyword &&
        types.some(({ expression }) => !declarations(expression).some(isOwnCode)),
    )

  const visitClass = (node: ts.ClassLikeDeclaration, chain: Chain): void => {
    const isCalledOutside = extendsOutside(node)
    for (const clause of node.heritageClauses ?? []) for (const type of clause.types) visit(type.expression, chain)
    for (const decorator of ts.getDecorators(node) ?? []) visit(decorator, chain)
    for (const element of node.members) {
      for (const decorator of ts.canHaveDecorators(element) ? (ts.getDecorators(element) ?? []) : [])
        visit(decorator, chain)
      const name = element.name === undefined ? undefined : propertyName(element.name)
      const field = ts.isPropertyDeclaration(element) ? element.initializer : undefined
      if (name !== undefined && field !== undefined && isFunction(bare(field)) && !isCalledOutside) {
        waitForName(name, bare(field), chain)
        continue
      }
      if (
        name === undefined ||
        ts.isConstructorDeclaration(element) ||
        ts.isPropertyDeclaration(element) ||
        IMPLICIT.has(name) ||
        isCalledOutside
      )
        visitChildren(element, chain)
      else waitForName(name, element, chain)
    }
  }

  const visitObject = (node: ts.ObjectLiteralExpression, chain: Chain): void => {
    for (const each of node.properties) {
      const name = each.name === undefined ? undefined : propertyName(each.name)
      const value = ts.isPropertyAssignment(each) ? each.initializer : each
      if (name !== undefined && !IMPLICIT.has(name) && isFunction(value)) waitForName(name, value, chain)
      else if (ts.isShorthandPropertyAssignment(each)) visitShorthand(each, chain)
      else visitChildren(each, chain)
    }
  }

  /** `{ load }` */
  const visitShorthand = (node: ts.ShorthandPropertyAssignment, chain: Chain): void => {
    if (mention(node.name, chain)) return
    noteUnseen(node.name, chain)
    for (const declaration of declarations(node.name)) enterDeclaration(declaration, chain, false)
  }

  return { visitClass, visitObject }
}

/** Called by the language itself. */
const IMPLICIT: ReadonlySet<string> = new Set('constructor toString toJSON valueOf then next return throw'.split(' '))
