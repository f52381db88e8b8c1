// Which variables a function takes from outside of itself. A function tool is sent to its cell as text,
// where those do not exist; found out here, it is refused with their names instead of failing there.
import type { AnyNode, Function as FunctionNode, Identifier, Node, Pattern } from 'acorn'

import { childrenOf } from './syntax-tree.js'

interface Scope {
  readonly names: Set<string>
  readonly outer: Scope | undefined
}

const inner = (outer: Scope | undefined): Scope => ({ names: new Set(), outer })

const isKnown = (scope: Scope | undefined, name: string): boolean =>
  scope !== undefined && (scope.names.has(name) || isKnown(scope.outer, name))

export const freeVariables = (program: Node): ReadonlySet<string> => {
  const free = new Set<string>()
  visit(program as AnyNode, inner(undefined), free)
  return free
}

const visit = (node: AnyNode, scope: Scope, free: Set<string>): void => {
  const go = (child: Node | null | undefined, within: Scope = scope) => {
    if (child !== null && child !== undefined) visit(child as AnyNode, within, free)
  }
  switch (node.type) {
    case 'Identifier':
      if (!isKnown(scope, node.name)) free.add(node.name)
      return
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      visitFunction(node, scope, free)
      return
    case 'ClassDeclaration':
    case 'ClassExpression': {
      const own = inner(scope)
      if (node.id !== null && node.id !== undefined) own.names.add(node.id.name)
      go(node.superClass, own)
      for (const member of node.body.body) go(member, own)
      return
    }
    case 'StaticBlock':
    case 'BlockStatement':
    case 'Program':
      visitBlock(node.body, inner(scope), free)
      return
    case 'SwitchStatement': {
      go(node.discriminant)
      const own = inner(scope)
      for (const { consequent } of node.cases) declareLexical(consequent, own)
      for (const each of node.cases) {
        go(each.test, own)
        for (const statement of each.consequent) go(statement, own)
      }
      return
    }
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement': {
      const own = inner(scope)
      const first = node.type === 'ForStatement' ? node.init : node.left
      if (first?.type === 'VariableDeclaration' && first.kind !== 'var') declareLexical([first], own)
      for (const child of childrenOf(node)) go(child, own)
      return
    }
    case 'CatchClause': {
      const own = inner(scope)
      if (node.param !== null && node.param !== undefined) declarePattern(node.param, own, free)
      go(node.body, own)
      return
    }
    case 'MemberExpression':
      go(node.object)
      if (node.computed) go(node.property)
      return
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      if (node.computed) go(node.key)
      go(node.value)
      return
    case 'LabeledStatement':
      go(node.body)
      return
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'MetaProperty':
      return
    default:
      for (const child of childrenOf(node)) go(child)
  }
}

const visitFunction = (node: FunctionNode, scope: Scope, free: Set<string>): void => {
  const own = inner(scope)
  if (node.type !== 'ArrowFunctionExpression') own.names.add('arguments')
  if (node.type === 'FunctionExpression' && node.id !== null && node.id !== undefined) own.names.add(node.id.name)
  for (const parameter of node.params) for (const { name } of boundNames(parameter)) own.names.add(name)
  for (const parameter of node.params) visitDefaults(parameter, own, free)
  if (node.body.type !== 'BlockStatement') {
    visit(node.body, own, free)
    return
  }
  declareVars(node.body, own)
  visitBlock(node.body.body, own, free)
}

const visitBlock = (statements: readonly Node[], scope: Scope, free: Set<string>): void => {
  declareLexical(statements, scope)
  // At the top of a program `var` is as local as in a function.
  if (scope.outer?.outer === undefined) for (const statement of statements) declareVars(statement as AnyNode, scope)
  for (const statement of statements) visit(statement as AnyNode, scope, free)
}

const declareLexical = (statements: readonly Node[], scope: Scope): void => {
  for (const each of statements as readonly AnyNode[]) {
    if ((each.type === 'FunctionDeclaration' || each.type === 'ClassDeclaration') && each.id !== null)
      scope.names.add(each.id.name)
    if (each.type === 'VariableDeclaration')
      for (const { id } of each.declarations) for (const { name } of boundNames(id)) scope.names.add(name)
  }
}

/** `var` belongs to the function, however deep it stands. */
const declareVars = (node: AnyNode, scope: Scope): void => {
  if (node.type === 'VariableDeclaration' && node.kind === 'var') declareLexical([node], scope)
  if (isFunction(node) || node.type === 'ClassDeclaration' || node.type === 'ClassExpression') return
  for (const child of childrenOf(node)) declareVars(child, scope)
}

const isFunction = (node: AnyNode): boolean =>
  node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'

const declarePattern = (pattern: Pattern, scope: Scope, free: Set<string>): void => {
  for (const { name } of boundNames(pattern)) scope.names.add(name)
  visitDefaults(pattern, scope, free)
}

/** The names that a pattern binds: `{ a, b: [c = 1], ...d }` binds a, c and d. */
const boundNames = (pattern: Pattern): readonly Identifier[] => {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern]
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        boundNames(property.type === 'RestElement' ? property.argument : property.value),
      )
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element === null ? [] : boundNames(element)))
    case 'AssignmentPattern':
      return boundNames(pattern.left)
    case 'RestElement':
      return boundNames(pattern.argument)
    case 'MemberExpression':
      return []
  }
}

/** What a pattern computes: defaults, and keys in brackets. The names it binds are known by now. */
const visitDefaults = (pattern: Pattern, scope: Scope, free: Set<string>): void => {
  visit(pattern, scope, free)
}
