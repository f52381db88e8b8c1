// Walks the code that a tool can reach, from its first function on, and collects what it does. A function counts as
// reached where it is mentioned, not only where it is called. Methods count when their class is reached and something
// reached has their name.
import ts from 'typescript'

import { bare, declarationsOf, isOwnCode } from './declarations.js'
import { deedsOf, mentionedDeeds } from './deeds.js'
import { createOrigins } from './origin.js'
import type { Origin } from './origin.js'
import type { Deed, Step, Use } from './use.js'
import { createValues, nameOf } from './values.js'

interface Work {
  readonly node: ts.Node
  readonly chain: readonly Step[]
}

/** A call or mention whose arguments are judged when all callers are known. */
interface Pending {
  readonly deeds: () => readonly Deed[]
  readonly node: ts.Node
  readonly chain: readonly Step[]
}

const MOST_CHAIN = 30

export const usesOf = (program: ts.Program, start: ts.Node): readonly Use[] => {
  const checker = program.getTypeChecker()
  const reached = new Set<ts.Node>()
  const work: Work[] = []
  const pending: Pending[] = []
  const names = new Set<string>()
  /** Methods of reached classes and objects, by name, until something mentions the name. */
  const methods = new Map<string, Work[]>()
  const given = new Map<ts.Node, ts.Expression[][]>()
  /** Functions that were mentioned without being called: others may call them. */
  const escaped = new Set<ts.Node>([start])

  const values = createValues(checker, (parameter) => {
    const callable = parameter.parent
    const calls = given.get(callable)
    const at = callable.parameters.indexOf(parameter)
    if (escaped.has(callable) || calls === undefined || parameter.dotDotDotToken !== undefined) return undefined
    const found = calls.map((call) => call[at] ?? parameter.initializer)
    return found.every((each) => each !== undefined) ? found : undefined
  })
  const origins = createOrigins(checker, values.constant)

  const enter = (node: ts.Node, chain: readonly Step[], name?: string): void => {
    if (reached.has(node) || chain.length > MOST_CHAIN) return
    reached.add(node)
    work.push({ node, chain: name === undefined ? chain : [...chain, { name, node }] })
  }
  const mentionName = (name: string): void => {
    if (names.has(name)) return
    names.add(name)
    for (const { node, chain } of methods.get(name) ?? []) enter(node, chain, name)
    methods.delete(name)
  }
  const waitForName = (name: string, node: ts.Node, chain: readonly Step[]): void => {
    if (names.has(name)) enter(node, chain, name)
    else methods.set(name, [...(methods.get(name) ?? []), { node, chain }])
  }

  /** Module code runs when the module is imported. */
  const enterModule = (specifier: ts.Expression, chain: readonly Step[]): void => {
    const file = checker.getSymbolAtLocation(specifier)?.declarations?.find(ts.isSourceFile)
    if (file !== undefined && isOwnCode(file)) enter(file, chain, shortName(file.fileName))
  }
  const enterDeclaration = (declaration: ts.Declaration, chain: readonly Step[], isCalled: boolean): void => {
    if (!isOwnCode(declaration)) return
    enter(declaration.getSourceFile(), chain, shortName(declaration.getSourceFile().fileName))
    const callable = callableOf(declaration)
    if (callable !== undefined && !isCalled) escaped.add(callable)
    if (ts.isVariableDeclaration(declaration)) {
      if (declaration.initializer !== undefined) enter(declaration.initializer, chain, textOfName(declaration.name))
    } else if (ts.isBindingElement(declaration)) {
      const holder = ts.findAncestor(declaration, ts.isVariableDeclaration)
      if (holder?.initializer !== undefined) enter(holder.initializer, chain)
    } else if (ts.isPropertyAssignment(declaration)) enter(declaration.initializer, chain, textOfName(declaration.name))
    else if (ts.isExportAssignment(declaration)) enter(declaration.expression, chain, 'default')
    else if (!ts.isParameter(declaration) && !ts.isTypeElement(declaration))
      enter(declaration, chain, declarationName(declaration))
  }

  const use = (deeds: () => readonly Deed[], node: ts.Node, chain: readonly Step[]): void => {
    pending.push({ deeds, node, chain })
  }

  const mention = (expression: ts.Expression, chain: readonly Step[]): boolean => {
    const found = origins.of(expression)
    if (found.length === 0) return false
    if (!isAlias(expression)) use(() => found.flatMap((origin) => mentionedDeeds(origin)), expression, chain)
    else use(() => found.filter(isOpaqueByItself).flatMap((origin) => mentionedDeeds(origin)), expression, chain)
    return true
  }

  const visitCall = (call: ts.CallExpression | ts.NewExpression, chain: readonly Step[]): void => {
    const { expression: callee } = call
    const args = [...(call.arguments ?? [])]
    if (callee.kind === ts.SyntaxKind.ImportKeyword) {
      if (args[0] !== undefined) enterModule(args[0], chain)
      if (ts.isCallExpression(call)) mention(call, chain)
      for (const each of args) visit(each, chain)
      return
    }
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
      const passed = shift === 'apply' ? [] : args.slice(shift)
      use(() => found.flatMap((origin) => deedsOf(origin, passed, values)), call, chain)
    } else visitCallee(callee, call, chain)
    for (const each of args) visit(each, chain)
  }

  const visitCallee = (
    callee: ts.Expression,
    call: ts.CallExpression | ts.NewExpression,
    chain: readonly Step[],
  ): void => {
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
    for (const declaration of ownDeclarations(name)) {
      const callable = callableOf(declaration)
      if (callable !== undefined && ts.isCallExpression(call))
        given.set(callable, [...(given.get(callable) ?? []), [...call.arguments]])
      enterDeclaration(declaration, chain, ts.isCallExpression(call))
    }
  }

  /** `table[name](…)`: fine for the members of an object that is written out, if the name is one of them. */
  const visitComputedCall = (access: ts.ElementAccessExpression, chain: readonly Step[]): void => {
    const { expression: object, argumentExpression: key } = access
    visit(object, chain)
    visit(key, chain)
    const keyType = checker.getTypeAtLocation(key)
    const literals = (keyType.isUnion() ? keyType.types : [keyType]).flatMap((type) =>
      type.isStringLiteral() ? [type.value] : [],
    )
    const isNumber = (keyType.flags & ts.TypeFlags.NumberLike) !== 0
    const isKnown = literals.length === (keyType.isUnion() ? keyType.types.length : 1)
    if (isKnown) for (const name of literals) mentionName(name)
    if (isKnown && !literals.includes('constructor')) return
    if (!isNumber) opaque('it calls a member with a computed name', access, chain)
  }

  const opaque = (because: string, node: ts.Node, chain: readonly Step[]): void => {
    use(() => [{ kind: 'opaque', because }], node, chain)
  }

  const ownDeclarations = (name: ts.Node): readonly ts.Declaration[] => {
    const symbol = checker.getSymbolAtLocation(name)
    return symbol === undefined ? [] : declarationsOf(checker, symbol)
  }

  const visitClass = (node: ts.ClassLikeDeclaration, chain: readonly Step[]): void => {
    for (const clause of node.heritageClauses ?? []) for (const type of clause.types) visit(type.expression, chain)
    for (const decorator of ts.getDecorators(node) ?? []) visit(decorator, chain)
    for (const element of node.members) {
      const name = element.name === undefined ? undefined : nameOf(element.name)
      if (
        name === undefined ||
        ts.isConstructorDeclaration(element) ||
        ts.isPropertyDeclaration(element) ||
        IMPLICIT.has(name)
      )
        visitChildren(element, chain)
      else waitForName(name, element, chain)
    }
  }

  const visitObject = (node: ts.ObjectLiteralExpression, chain: readonly Step[]): void => {
    for (const each of node.properties) {
      const name = each.name === undefined ? undefined : nameOf(each.name)
      const value = ts.isPropertyAssignment(each) ? each.initializer : each
      if (name !== undefined && !IMPLICIT.has(name) && isFunction(value)) waitForName(name, value, chain)
      else if (ts.isShorthandPropertyAssignment(each)) visit(each.name, chain)
      else visitChildren(each, chain)
    }
  }

  const visitChildren = (node: ts.Node, chain: readonly Step[]): void => {
    ts.forEachChild(node, (child) => {
      visit(child, chain)
    })
  }

  const visit = (node: ts.Node, chain: readonly Step[]): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return
    if (ts.isImportDeclaration(node)) {
      if (node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword) {
        enterModule(node.moduleSpecifier, chain)
        visitImported(node.moduleSpecifier, chain)
      }
    } else if (ts.isExportDeclaration(node)) {
      if (!node.isTypeOnly && node.moduleSpecifier !== undefined) enterModule(node.moduleSpecifier, chain)
    } else if (ts.isCallExpression(node) || ts.isNewExpression(node)) visitCall(node, chain)
    else if (ts.isClassLike(node)) {
      // The declaration of a class runs nothing but its static parts: see enterDeclaration.
      if (reached.has(node) || ts.isClassExpression(node)) visitClass(node, chain)
    } else if (ts.isFunctionDeclaration(node)) {
      if (reached.has(node)) visitChildren(node, chain)
    } else if (ts.isObjectLiteralExpression(node)) visitObject(node, chain)
    else if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) visitAccess(node, chain)
    else if (ts.isIdentifier(node)) visitIdentifier(node, chain)
    else if (ts.isVariableDeclaration(node)) visitVariable(node, chain)
    else visitChildren(node, chain)
  }

  /** A package is reached when it is imported, because its module code runs then. */
  const visitImported = (specifier: ts.Expression, chain: readonly Step[]): void => {
    if (!ts.isStringLiteral(specifier)) return
    const found = packageOf(specifier.text)
    if (found !== undefined) use(() => [{ kind: 'package', name: found }], specifier, chain)
  }

  const visitVariable = (node: ts.VariableDeclaration, chain: readonly Step[]): void => {
    if (node.initializer !== undefined) {
      const isPattern = !ts.isIdentifier(node.name)
      const found = isPattern ? origins.of(node.initializer) : []
      if (found.length > 0) visitPattern(node.name as ts.BindingPattern, node.initializer, chain)
      else if (!reached.has(node.initializer)) visit(node.initializer, chain)
    }
    if (!ts.isIdentifier(node.name)) visitChildren(node.name, chain)
  }

  /** `const { A, B } = process.env` names its members. */
  const visitPattern = (pattern: ts.BindingPattern, initializer: ts.Expression, chain: readonly Step[]): void => {
    mention(initializer, chain)
    if (!ts.isObjectBindingPattern(pattern)) return
    for (const element of pattern.elements) {
      if (!ts.isIdentifier(element.name)) continue
      const found = origins.of(element.name)
      const isVariable = (origin: Origin): boolean => origin.kind === 'global' && origin.path[1] === 'env'
      use(() => found.filter(isVariable).flatMap((origin) => mentionedDeeds(origin)), element, chain)
    }
  }

  const visitAccess = (
    node: ts.PropertyAccessExpression | ts.ElementAccessExpression,
    chain: readonly Step[],
  ): void => {
    if (mention(node, chain)) {
      if (ts.isElementAccessExpression(node)) visit(node.argumentExpression, chain)
      return
    }
    visit(node.expression, chain)
    if (ts.isElementAccessExpression(node)) {
      const name = values.constant(node.argumentExpression)
      if (name !== undefined) mentionName(name)
      else visit(node.argumentExpression, chain)
      return
    }
    mentionName(node.name.text)
    for (const declaration of ownDeclarations(node.name))
      if (isFunction(declaration) || ts.isAccessor(declaration)) enterDeclaration(declaration, chain, false)
  }

  const visitIdentifier = (node: ts.Identifier, chain: readonly Step[]): void => {
    if (isDeclaredName(node) || mention(node, chain)) return
    for (const declaration of ownDeclarations(node)) enterDeclaration(declaration, chain, false)
  }

  enter(start, [])
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const { node, chain } = next
    if (ts.isClassLike(node)) visitClass(node, chain)
    else if (ts.isObjectLiteralExpression(node) || isLeaf(node)) visit(node, chain)
    else visitChildren(node, chain)
  }
  return pending.flatMap(({ deeds, node, chain }) => deeds().map((deed): Use => ({ deed, node, chain })))
}

/** Called by the language itself. */
const IMPLICIT: ReadonlySet<string> = new Set(['constructor', 'toString', 'toJSON', 'valueOf', 'then'])

const isLeaf = (node: ts.Node): boolean =>
  ts.isIdentifier(node) ||
  ts.isCallExpression(node) ||
  ts.isNewExpression(node) ||
  ts.isPropertyAccessExpression(node) ||
  ts.isElementAccessExpression(node)

const isOpaqueByItself = (origin: Origin): boolean => origin.kind === 'computed'

const isFunction = (node: ts.Node): boolean =>
  ts.isFunctionExpression(node) ||
  ts.isArrowFunction(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isFunctionDeclaration(node)

/** `f.call(this, a)` calls f, with its arguments one place further. */
const calledFunction = (callee: ts.Expression): readonly [ts.Expression, number | 'apply'] => {
  const inner = bare(callee)
  if (!ts.isPropertyAccessExpression(inner)) return [inner, 0]
  if (inner.name.text === 'call') return [inner.expression, 1]
  return inner.name.text === 'apply' ? [inner.expression, 'apply'] : [inner, 0]
}

/** The function of a declaration, whose parameters get values. */
const callableOf = (declaration: ts.Declaration): ts.Node | undefined => {
  if (isFunction(declaration)) return declaration
  const initial =
    ts.isVariableDeclaration(declaration) || ts.isPropertyAssignment(declaration) ? declaration.initializer : undefined
  const value = initial === undefined ? undefined : bare(initial)
  return value !== undefined && isFunction(value) ? value : undefined
}

/** Whether the expression only gives the thing another name, under which it is found again. */
const isAlias = (expression: ts.Expression): boolean => {
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
  if (ts.isPropertyDeclaration(parent)) return parent.initializer === node
  if (ts.isExportAssignment(parent) || ts.isExpressionStatement(parent)) return true
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node && parent.name.text === 'then'
  return ts.isExportSpecifier(parent)
}

const isDeclaredName = (name: ts.Identifier): boolean => {
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

const textOfName = (name: ts.Node): string => (ts.isIdentifier(name) ? name.text : name.getText())

const declarationName = (declaration: ts.Declaration): string =>
  ts.getNameOfDeclaration(declaration)?.getText() ?? 'a function'

const shortName = (file: string): string => file.split('/').slice(-2).join('/')

const packageOf = (specifier: string): string | undefined =>
  /^(?:\.|\/|node:|file:)/.test(specifier)
    ? undefined
    : specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/')
