// Finds the variables that a function takes from outside of itself. A function tool is sent to its cell as text, where
// they do not exist. So such a tool is refused when it is declared. `this`, `super` and `import.meta` count as well.
import type { AnyNode, Function as FunctionNode, Node, Pattern } from 'acorn'

interface Scope {
  readonly names: Set<string>
  readonly outer: Scope | undefined
}

const inner = (outer: Scope | undefined): Scope => ({ names: new Set(), outer })

const isKnown = (scope: Scope | undefined, name: string): boolean =>
  scope !== undefined && (scope.names.has(name) || isKnown(scope.outer, name))

/** The scope of the whole program. */
const isTop = (scope: Scope): boolean => scope.outer?.outer === undefined

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
      own.names.add('this')
      if (node.id !== null && node.id !== undefined) own.names.add(node.id.name)
      go(node.superClass, own)
      for (const member of node.body.body) go(member, own)
      return
    }
    case 'StaticBlock': {
      const own = inner(scope)
      for (const statement of node.body) declareVars(statement, own)
      visitBlock(node.body, own, free)
      return
    }
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
      if (node.param !== null && node.param !== undefined) declareNames(node.param, own)
      go(node.param, own)
      go(node.body, own)
      return
    }
    case 'MemberExpression':
      // A compiler passes `this` on where it has no meaning. A property of it is really used.
      if (node.object.type === 'ThisExpression' && !isKnown(scope, 'this')) free.add('this')
      if (node.object.type === 'Super' && !isKnown(scope, 'this')) free.add('super')
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
      return
    case 'MetaProperty':
      if (node.meta.name === 'import') free.add('import.meta')
      return
    default:
      for (const child of childrenOf(node)) go(child)
  }
}

const visitFunction = (node: FunctionNode, scope: Scope, free: Set<string>): void => {
  const own = inner(scope)
  if (node.type !== 'ArrowFunctionExpression') {
    own.names.add('arguments')
    // The tool itself is called without an object.
    if (!isTop(scope)) own.names.add('this')
  }
  if (node.type === 'FunctionExpression' && node.id !== null && node.id !== undefined) own.names.add(node.id.name)
  for (const parameter of node.params) declareNames(parameter, own)
  for (const parameter of node.params) visit(parameter, own, free)
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
  if (isTop(scope)) for (const statement of statements) declareVars(statement as AnyNode, scope)
  for (const statement of statements) visit(statement as AnyNode, scope, free)
}

const declareLexical = (statements: readonly Node[], scope: Scope): void => {
  for (const each of statements as readonly AnyNode[]) {
    if ((each.type === 'FunctionDeclaration' || each.type === 'ClassDeclaration') && each.id !== null)
      scope.names.add(each.id.name)
    if (each.type === 'VariableDeclaration') for (const { id } of each.declarations) declareNames(id, scope)
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

/** Declares the names that a pattern binds: `{ a, b: [c = 1], ...d }` binds a, c and d. */
const declareNames = (pattern: Pattern, scope: Scope): void => {
  switch (pattern.type) {
    case 'Identifier':
      scope.names.add(pattern.name)
      return
    case 'ObjectPattern':
      for (const property of pattern.properties)
        declareNames(property.type === 'RestElement' ? property.argument : property.value, scope)
      return
    case 'ArrayPattern':
      for (const element of pattern.elements) if (element !== null) declareNames(element, scope)
      return
    case 'AssignmentPattern':
      declareNames(pattern.left, scope)
      return
    case 'RestElement':
      declareNames(pattern.argument, scope)
      return
    case 'MemberExpression':
      return
  }
}

/** The nodes directly beneath one, whatever its type. */
export const childrenOf = (node: AnyNode): readonly AnyNode[] =>
  Object.values(node)
    .flatMap((value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [value]))
    .filter(isNode) as readonly AnyNode[]

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' && 'start' in value
