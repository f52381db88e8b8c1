// Walks the code that a tool can reach, from its first function on, and collects what it does. A function counts as
// reached where it is mentioned, not only where it is called. Methods count when their class is reached and something
// reached has their name.
import ts from 'typescript'

import { bare } from './declarations.js'
import { mentionedDeeds } from './deeds.js'
import { ownModule } from './modules.js'
import { isDeclaredName, isFunction } from './node-kinds.js'
import { packageNamed } from './origin.js'
import type { Origin } from './origin.js'
import type { Use } from './use.js'
import { propertyName } from './values.js'
import { createCallVisitor } from './visit-calls.js'
import { createHolderVisitor } from './visit-holders.js'
import { createWalk } from './walk.js'
import type { Chain } from './walk.js'

/** `agentFile`: see `createWalk`. Undefined: the tool is a module, and the code at its top runs too. */
export const usesOf = (program: ts.Program, start: ts.Node, agentFile: ts.SourceFile | undefined): readonly Use[] => {
  const walk = createWalk(program, start, agentFile)
  const { checker, values, origins, isReached, enter, enterModule, enterDeclaration, enterMember, writtenTable } = walk
  const { mentionName, callByName, declarations, noteUnseen, use, opaque, mention } = walk

  const visitChildren = (node: ts.Node, chain: Chain): void => {
    ts.forEachChild(node, (child) => {
      visit(child, chain)
    })
  }

  const visit = (node: ts.Node, chain: Chain): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return
    if (ts.isImportDeclaration(node)) {
      if (node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword) {
        enterModule(node.moduleSpecifier, chain)
        visitImported(node.moduleSpecifier, chain)
      }
    } else if (ts.isExportDeclaration(node)) {
      if (!node.isTypeOnly && node.moduleSpecifier !== undefined) {
        enterModule(node.moduleSpecifier, chain)
        visitImported(node.moduleSpecifier, chain)
      }
    } else if (ts.isCallExpression(node) || ts.isNewExpression(node)) visitCall(node, chain)
    else if (ts.isClassLike(node)) {
      // The declaration of a class runs nothing but its static parts: see enterDeclaration.
      if (isReached(node) || ts.isClassExpression(node)) visitClass(node, chain)
    } else if (ts.isFunctionDeclaration(node)) {
      if (isReached(node)) visitChildren(node, chain)
    } else if (ts.isObjectLiteralExpression(node)) visitObject(node, chain)
    else if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) visitAccess(node, chain)
    else if (ts.isIdentifier(node)) visitIdentifier(node, chain)
    else if (ts.isVariableDeclaration(node)) visitVariable(node, chain)
    else if (ts.isTypeOfExpression(node)) visitTested(node.expression, chain)
    else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword) {
      visit(node.left, chain)
      visitTested(node.right, chain)
    } else {
      if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) mentionElement(node)
      visitChildren(node, chain)
    }
  }

  /** `typeof fetch` and `instanceof Function` use nothing. */
  const visitTested = (node: ts.Expression, chain: Chain): void => {
    if (!ts.isIdentifier(node)) visit(node, chain)
  }

  /** `const { load } = files` names a method, and perhaps a constructor. */
  const mentionElement = (element: ts.BindingElement): void => {
    const name = propertyName((element.propertyName ?? element.name) as ts.PropertyName)
    if (name === 'constructor') opaque('it takes a constructor by its property', element, [])
    if (name !== undefined) mentionName(name)
  }

  /** A package is reached when it is imported, because its module code runs then. */
  const visitImported = (specifier: ts.Expression, chain: Chain): void => {
    if (!ts.isStringLiteral(specifier) || ownModule(checker, specifier) !== undefined) return
    const found = packageNamed(specifier.text)
    if (found !== undefined) use(() => [{ kind: 'package', name: found, specifier: specifier.text }], specifier, chain)
  }

  const visitVariable = (node: ts.VariableDeclaration, chain: Chain): void => {
    if (node.initializer !== undefined) {
      const isPattern = !ts.isIdentifier(node.name)
      const found = isPattern ? origins.of(node.initializer) : []
      if (found.length > 0) visitPattern(node.name as ts.BindingPattern, node.initializer, chain)
      // A function counts where its name is mentioned.
      else if (!isReached(node.initializer) && !(isFunction(bare(node.initializer)) && ts.isIdentifier(node.name)))
        visit(node.initializer, chain)
    }
    if (!ts.isIdentifier(node.name)) visitChildren(node.name, chain)
  }

  /** `const { A, B } = process.env` names its members. */
  const visitPattern = (pattern: ts.BindingPattern, initializer: ts.Expression, chain: Chain): void => {
    mention(initializer, chain)
    if (!ts.isObjectBindingPattern(pattern)) return
    for (const element of pattern.elements) {
      if (!ts.isIdentifier(element.name)) continue
      const found = origins.of(element.name)
      const isRest = element.dotDotDotToken !== undefined
      const isVariable = (origin: Origin): boolean =>
        origin.kind === 'global' && origin.path[1] === 'env' && (isRest || origin.path.length > 2)
      use(() => found.filter(isVariable).flatMap((origin) => mentionedDeeds(origin)), element, chain)
    }
  }

  const visitAccess = (node: ts.PropertyAccessExpression | ts.ElementAccessExpression, chain: Chain): void => {
    if (mention(node, chain)) {
      visitHolder(node, chain)
      return
    }
    visit(node.expression, chain)
    if (ts.isElementAccessExpression(node)) {
      const name = values.constant(node.argumentExpression)
      if (name !== undefined) enterMember(node.expression, name, chain)
      else visitComputed(node, chain)
      return
    }
    mentionName(node.name.text)
    const isCompared = ts.isBinaryExpression(node.parent) || ts.isPropertyAccessExpression(node.parent)
    if (node.name.text === 'constructor' && !isCompared) opaque('it takes a constructor by its property', node, chain)
    for (const declaration of declarations(node.name))
      if (isFunction(declaration) || ts.isAccessor(declaration)) enterDeclaration(declaration, chain, false)
  }

  /** `const f = table[name]` may be each function of the table. */
  const visitComputed = ({ expression, argumentExpression }: ts.ElementAccessExpression, chain: Chain): void => {
    visit(argumentExpression, chain)
    for (const each of writtenTable(expression)?.properties ?? []) {
      const name = each.name === undefined ? undefined : propertyName(each.name)
      if (name !== undefined) callByName(name)
    }
  }

  const visitIdentifier = (node: ts.Identifier, chain: Chain): void => {
    if (isDeclaredName(node) || mention(node, chain)) return
    noteUnseen(node, chain)
    for (const declaration of declarations(node)) enterDeclaration(declaration, chain, false)
  }

  const { visitCall, visitHolder } = createCallVisitor(walk, visit)
  const { visitClass, visitObject } = createHolderVisitor(walk, visit, visitChildren)
  if (agentFile === undefined) enter(start.getSourceFile(), [])
  enter(start, [])
  for (let work = walk.next(); work !== undefined; work = walk.next()) {
    const { node, chain } = work
    if (ts.isClassLike(node)) visitClass(node, chain)
    else if (ts.isObjectLiteralExpression(node) || isLeaf(node)) visit(node, chain)
    else visitChildren(node, chain)
  }
  return walk.uses()
}

const isLeaf = (node: ts.Node): boolean =>
  ts.isIdentifier(node) ||
  ts.isCallExpression(node) ||
  ts.isNewExpression(node) ||
  ts.isPropertyAccessExpression(node) ||
  ts.isElementAccessExpression(node)
