// Kinds of nodes, and the names in them.
import ts from 'typescript'

import { bare, isAssignment } from './declarations.js'

export const isFunction = (node: ts.Node): boolean =>
  ts.isFunctionExpression(node) ||
  ts.isArrowFunction(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isFunctionDeclaration(node)

/** The function of a declaration, whose parameters get values. */
export const callableOf = (declaration: ts.Declaration): ts.Node | undefined => {
  if (isFunction(declaration)) return declaration
  const initial =
    ts.isVariableDeclaration(declaration) || ts.isPropertyAssignment(declaration) ? declaration.initializer : undefined
  const value = initial === undefined ? undefined : bare(initial)
  return value !== undefined && isFunction(value) ? value : undefined
}

/** The name under which a function is called. */
export const callableName = (callable: ts.Node): string => {
  const named = ts.isMethodDeclaration(callable) ? callable : callable.parent
  const name = ts.getNameOfDeclaration(named as ts.Declaration)
  return name !== undefined && ts.isIdentifier(name) ? name.text : ''
}

/** Whether the expression only gives the thing another name, under which it is found again. */
export const isAlias = (expression: ts.Expression): boolean => {
  let node: ts.Node = expression
  while (
    ts.isParenthesizedExpression(node.parent) ||
    ts.isAwaitExpression(node.parent) ||
    ts.isAsExpression(node.parent) ||
    ts.isSatisfiesExpression(node.parent) ||
    ts.isNonNullExpression(node.parent)
  )
    node = node.parent
  const { parent } = node
  if (ts.isVariableDeclaration(parent)) return parent.initializer === node
  if (ts.isBinaryExpression(parent) && ts.isIdentifier(parent.left)) return isAssignment(parent.operatorToken.kind)
  if (ts.isPropertyDeclaration(parent)) return parent.initializer === node
  if (ts.isExportAssignment(parent) || ts.isExpressionStatement(parent)) return true
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node && parent.name.text === 'then'
  return ts.isExportSpecifier(parent)
}

export const isDeclaredName = (name: ts.Identifier): boolean => {
  const { parent } = name
  if (ts.isBindingElement(parent)) return parent.initializer !== name
  if (ts.isFunctionLike(parent) || ts.isClassLike(parent) || ts.isVariableDeclaration(parent))
    return parent.name === name
  if (ts.isParameter(parent) || ts.isPropertyDeclaration(parent)) return parent.name === name
  return (
    ts.isImportSpecifier(parent) ||
    ts.isImportClause(parent) ||
    ts.isNamespaceImport(parent) ||
    ts.isExportSpecifier(parent)
  )
}

export const isNamed = (expression: ts.Expression, name: string): boolean =>
  ts.isIdentifier(expression) && expression.text === name

export const textOfName = (name: ts.Node): string => (ts.isIdentifier(name) ? name.text : name.getText())

export const declarationName = (declaration: ts.Declaration): string =>
  ts.getNameOfDeclaration(declaration)?.getText() ?? 'a function'

export const shortName = (file: string): string => file.split('/').slice(-2).join('/')
