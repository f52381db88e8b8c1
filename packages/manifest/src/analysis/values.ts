// Values that the text of a program fixes: constants, joined paths, URLs, and arguments of functions that the project
// calls itself.
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'

import { bare, declarationsOf, isChangedInside, writesTo } from './declarations.js'
import { isNamed } from './node-kinds.js'
import { UNKNOWN, whole } from './use.js'
import type { Text } from './use.js'

/** The expressions that are given for a parameter. Undefined: others may call its function too. */
export type ArgumentsFor = (parameter: ts.ParameterDeclaration) => readonly ts.Expression[] | undefined

export interface Values {
  /** Every text that an expression can have. */
  readonly texts: (expression: ts.Expression) => readonly Text[]
  /** The text of a constant. */
  readonly constant: (expression: ts.Expression) => string | undefined
  /** The initial value of a property of an object that is written out. */
  readonly property: (expression: ts.Expression, name: string) => ts.Expression | undefined
  /** What a name stands for, if that is one expression. */
  readonly initial: (expression: ts.Expression) => ts.Expression | undefined
}

const MOST_DEEP = 30
const MOST_TEXTS = 20
const MOST_STEPS = 2_000

export const createValues = (checker: ts.TypeChecker, givenFor: ArgumentsFor): Values => {
  const initializersOf = (name: ts.Identifier | ts.MemberName): readonly ts.Expression[] | undefined => {
    const symbol = checker.getSymbolAtLocation(name)
    const declarations = symbol === undefined ? [] : declarationsOf(checker, symbol)
    const [declaration, ...more] = declarations
    if (declaration === undefined || more.length > 0) return undefined
    if (ts.isParameter(declaration)) {
      const { values, isMore } = writesTo(checker, declaration)
      const given = givenFor(declaration)
      return given === undefined || isMore ? undefined : [...given, ...values]
    }
    if (ts.isShorthandPropertyAssignment(declaration)) {
      const [value] = checker.getShorthandAssignmentValueSymbol(declaration)?.declarations ?? []
      return value !== undefined && ts.isVariableDeclaration(value) ? initialOf(value) : undefined
    }
    if (ts.isPropertyAssignment(declaration)) return withWrites(declaration, declaration.initializer)
    if (ts.isEnumMember(declaration))
      return declaration.initializer === undefined ? undefined : [declaration.initializer]
    if (ts.isPropertyDeclaration(declaration))
      return isReadonly(declaration) ? withWrites(declaration, declaration.initializer) : undefined
    return ts.isVariableDeclaration(declaration) ? initialOf(declaration) : undefined
  }
  const initialOf = (variable: ts.VariableDeclaration): readonly ts.Expression[] | undefined =>
    withWrites(variable, variable.initializer)
  const withWrites = (
    declaration: ts.VariableDeclaration | ts.PropertyDeclaration | ts.PropertyAssignment,
    initial: ts.Expression | undefined,
  ): readonly ts.Expression[] | undefined => {
    const { values, isMore } = writesTo(checker, declaration)
    const found = initial === undefined ? values : [initial, ...values]
    return isMore || found.length === 0 ? undefined : found
  }

  /** Names that are being read: a value may be made from itself. */
  const reading = new Set<ts.Symbol>()
  let steps = 0
  const ofName = (name: ts.Identifier | ts.MemberName, depth: number): readonly Text[] => {
    const symbol = checker.getSymbolAtLocation(name)
    if (symbol === undefined || reading.has(symbol)) return [UNKNOWN]
    reading.add(symbol)
    const initial = isChangedInside(checker, symbol) ? undefined : initializersOf(name)
    const found = initial === undefined ? [UNKNOWN] : several(initial, depth)
    reading.delete(symbol)
    return found
  }

  const textsOf = (given: ts.Expression, depth: number): readonly Text[] => {
    steps += 1
    if (depth > MOST_DEEP || steps > MOST_STEPS) return [UNKNOWN]
    const expression = bare(given)
    if (ts.isStringLiteralLike(expression)) return [whole(expression.text)]
    if (ts.isNumericLiteral(expression)) return [whole(expression.text)]
    if (ts.isTemplateExpression(expression))
      return expression.templateSpans.reduce<readonly Text[]>(
        (before, { expression: inner, literal }) =>
          joined(joined(before, textsOf(inner, depth + 1)), [whole(literal.text)]),
        [whole(expression.head.text)],
      )
    if (ts.isBinaryExpression(expression)) {
      const { operatorToken, left, right } = expression
      if (operatorToken.kind === ts.SyntaxKind.PlusToken)
        return joined(textsOf(left, depth + 1), textsOf(right, depth + 1))
      if (
        operatorToken.kind === ts.SyntaxKind.BarBarToken ||
        operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken
      )
        return several([left, right], depth)
      return [UNKNOWN]
    }
    if (ts.isConditionalExpression(expression)) return several([expression.whenTrue, expression.whenFalse], depth)
    if (ts.isAwaitExpression(expression)) return textsOf(expression.expression, depth + 1)
    if (ts.isIdentifier(expression)) {
      if (expression.text === '__dirname') return [whole(folderOf(expression))]
      if (expression.text === '__filename') return [whole(expression.getSourceFile().fileName)]
      return ofName(expression, depth)
    }
    if (ts.isPropertyAccessExpression(expression)) return ofProperty(expression, depth)
    if (ts.isCallExpression(expression)) return ofCall(expression, depth)
    if (ts.isNewExpression(expression) && isNamed(expression.expression, 'URL'))
      return resolvedUrl([...(expression.arguments ?? [])], depth)
    return [UNKNOWN]
  }

  const several = (expressions: readonly ts.Expression[], depth: number): readonly Text[] => {
    const found = expressions.flatMap((each) => textsOf(each, depth + 1))
    return found.length === 0 || found.length > MOST_TEXTS ? [UNKNOWN] : found
  }

  const ofProperty = (access: ts.PropertyAccessExpression, depth: number): readonly Text[] => {
    const { expression: object, name } = access
    if (ts.isMetaProperty(object)) {
      const file = access.getSourceFile().fileName
      if (name.text === 'url') return [whole(`file://${file}`)]
      if (name.text === 'dirname') return [whole(posix.dirname(file))]
      return name.text === 'filename' ? [whole(file)] : [UNKNOWN]
    }
    if (name.text === 'href' || name.text === 'pathname') {
      const texts = textsOf(object, depth + 1)
      if (texts.every((text) => text.kind !== 'unknown' && text.text.includes('://')))
        return name.text === 'href' ? texts : texts.map(pathOfUrl)
    }
    return ofName(name, depth)
  }

  const ofCall = (call: ts.CallExpression, depth: number): readonly Text[] => {
    const [first] = call.arguments
    const name = calledName(checker, call.expression)
    switch (name) {
      case 'path.join':
      case 'path.resolve':
      case 'path.normalize':
        return joinedPaths(
          call.arguments.map((each) => (ts.isSpreadElement(each) ? [UNKNOWN] : textsOf(each, depth + 1))),
          name === 'path.resolve',
        )
      case 'path.dirname':
        return first === undefined ? [UNKNOWN] : textsOf(first, depth + 1).map(folder)
      case 'process.cwd':
        return [whole('.')]
      case 'os.homedir':
        return [whole('~')]
      case 'os.tmpdir':
        return [whole('/tmp')]
      case 'url.fileURLToPath':
        return first === undefined ? [UNKNOWN] : textsOf(first, depth + 1).map(pathOfUrl)
      case 'String.toString':
      case 'URL.toString':
        return ts.isPropertyAccessExpression(call.expression)
          ? textsOf(call.expression.expression, depth + 1)
          : [UNKNOWN]
      case 'String.concat': {
        if (!ts.isPropertyAccessExpression(call.expression)) return [UNKNOWN]
        const parts = [call.expression.expression, ...call.arguments].map((each) => textsOf(each, depth + 1))
        return parts.reduce((before, after) => joined(before, after), [whole('')])
      }
      case '.String':
        return first === undefined ? [UNKNOWN] : textsOf(first, depth + 1)
      default:
        return [UNKNOWN]
    }
  }

  const resolvedUrl = (given: readonly ts.Expression[], depth: number): readonly Text[] => {
    const [target, base] = given
    if (target === undefined) return [UNKNOWN]
    const targets = textsOf(target, depth + 1)
    if (base === undefined) return targets
    const bases = textsOf(base, depth + 1)
    return targets.flatMap((text) => bases.map((under) => urlFrom(text, under)))
  }

  const initialExpression = (expression: ts.Expression): ts.Expression | undefined => {
    if (!ts.isIdentifier(expression) && !ts.isPropertyAccessExpression(expression)) return undefined
    const initial = initializersOf(ts.isIdentifier(expression) ? expression : expression.name)
    return initial?.length === 1 ? initial[0] : undefined
  }

  const property = (given: ts.Expression, name: string, depth = 0): ts.Expression | undefined => {
    const expression = bare(given)
    if (depth > MOST_DEEP) return undefined
    const initial = initialExpression(expression)
    if (initial !== undefined) return property(initial, name, depth + 1)
    if (!ts.isObjectLiteralExpression(expression)) return undefined
    let found: ts.Expression | undefined
    for (const each of expression.properties) {
      if (ts.isSpreadAssignment(each)) found = property(each.expression, name, depth + 1) ?? found
      else if (ts.isPropertyAssignment(each) && propertyName(each.name) === name) {
        const { values, isMore } = writesTo(checker, each)
        // By its name, all values that it gets are found.
        found = (isMore || values.length > 0) && ts.isIdentifier(each.name) ? each.name : each.initializer
      } else if (ts.isShorthandPropertyAssignment(each) && each.name.text === name) found = each.name
    }
    return found
  }

  const constant = (expression: ts.Expression): string | undefined => {
    steps = 0
    const [text, ...more] = textsOf(expression, 0)
    return text?.kind === 'whole' && more.length === 0 ? text.text : undefined
  }
  return {
    texts: (expression) => {
      steps = 0
      return textsOf(expression, 0)
    },
    constant,
    property: (given, name) => property(given, name),
    initial: (expression) => initialExpression(bare(expression)),
  }
}

/** A property of an object, or a method of that name. */
export const memberOf = (object: ts.Expression, name: string, values: Values): ts.Node | undefined => {
  const written = bare(object)
  const method = ts.isObjectLiteralExpression(written)
    ? written.properties.find((each) => ts.isMethodDeclaration(each) && propertyName(each.name) === name)
    : undefined
  return method ?? values.property(object, name)
}

export const propertyName = (name: ts.PropertyName): string | undefined =>
  ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : undefined

/** Who declares a called function, and its name: `path.join`, `String.concat`. Undefined for code of the project. */
const calledName = (checker: ts.TypeChecker, callee: ts.Expression): string | undefined => {
  const name = ts.isPropertyAccessExpression(callee) ? callee.name : ts.isIdentifier(callee) ? callee : undefined
  const symbol = name === undefined ? undefined : checker.getSymbolAtLocation(name)
  const [declaration] = symbol === undefined ? [] : declarationsOf(checker, symbol)
  if (symbol === undefined || declaration?.getSourceFile().isDeclarationFile !== true) return undefined
  const own = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol).name : symbol.name
  return `${holderOf(declaration)}.${own}`
}

const holderOf = (declaration: ts.Declaration): string => {
  const holder = ts.findAncestor(
    declaration.parent,
    (node) => ts.isInterfaceDeclaration(node) || ts.isModuleDeclaration(node),
  )
  if (holder === undefined) return ''
  if (ts.isInterfaceDeclaration(holder)) return HOLDERS[holder.name.text] ?? holder.name.text
  return holder.name.text.replace(/^node:/, '').replace(/^path\/.*$/, 'path')
}

const HOLDERS: Readonly<Record<string, string>> = { PlatformPath: 'path', Process: 'process' }

const isReadonly = (declaration: ts.PropertyDeclaration): boolean =>
  (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Readonly) !== 0

const folderOf = (node: ts.Node): string => posix.dirname(node.getSourceFile().fileName)

const joined = (before: readonly Text[], after: readonly Text[]): readonly Text[] => {
  if (before.length * after.length > MOST_TEXTS) return [UNKNOWN]
  return before.flatMap((left) =>
    left.kind === 'whole'
      ? after.map((right) => (right.kind === 'unknown' ? start(left.text) : { ...right, text: left.text + right.text }))
      : [left],
  )
}

const start = (text: string): Text => (text === '' ? UNKNOWN : { kind: 'start', text })

const joinedPaths = (parts: readonly (readonly Text[])[], fromRight: boolean): readonly Text[] => {
  let found: readonly Text[] = [whole('')]
  for (const part of parts) {
    if (found.length * part.length > MOST_TEXTS) return [UNKNOWN]
    found = found.flatMap((left) =>
      part.map((right): Text => {
        if (right.kind !== 'unknown' && fromRight && right.text.startsWith('/')) return right
        if (left.kind !== 'whole') return left
        // What is joined later could lead up again.
        if (right.kind === 'unknown') return left.text === '' ? UNKNOWN : start(`${left.text.replace(/\/$/, '')}/`)
        return { ...right, text: left.text === '' ? right.text : posix.join(left.text, right.text) }
      }),
    )
  }
  return found
}

const folder = (text: Text): Text => (text.kind === 'whole' ? whole(posix.dirname(text.text)) : UNKNOWN)

const pathOfUrl = (text: Text): Text => {
  if (text.kind === 'unknown') return text
  try {
    const url = new URL(text.text)
    return { ...text, text: url.protocol === 'file:' ? fileURLToPath(url) : url.pathname }
  } catch {
    return UNKNOWN
  }
}

const urlFrom = (text: Text, base: Text): Text => {
  if (text.kind === 'unknown') {
    // A whole URL would replace the base.
    return UNKNOWN
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(text.text)) return text
  if (base.kind === 'unknown') return UNKNOWN
  try {
    return { kind: text.kind === 'start' ? 'start' : base.kind, text: new URL(text.text, base.text).href }
  } catch {
    return UNKNOWN
  }
}
