// Values that the text of a program fixes: constants, joined paths, URLs, and arguments of functions that the project
// calls itself.
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'

import { assignedIn, bare, declarationsOf } from './declarations.js'
import { UNKNOWN } from './use.js'
import type { Text } from './use.js'

/** The expressions that are given for a parameter. Undefined: others may call its function too. */
export type GivenFor = (parameter: ts.ParameterDeclaration) => readonly ts.Expression[] | undefined

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

const whole = (text: string): Text => ({ kind: 'whole', text })

export const createValues = (checker: ts.TypeChecker, givenFor: GivenFor): Values => {
  const initializersOf = (name: ts.Identifier | ts.MemberName): readonly ts.Expression[] | undefined => {
    const symbol = checker.getSymbolAtLocation(name)
    const declarations = symbol === undefined ? [] : declarationsOf(checker, symbol)
    const [declaration, ...more] = declarations
    if (declaration === undefined || more.length > 0) return undefined
    if (ts.isParameter(declaration)) return givenFor(declaration)
    if (ts.isShorthandPropertyAssignment(declaration)) {
      const [value] = checker.getShorthandAssignmentValueSymbol(declaration)?.declarations ?? []
      return value !== undefined && ts.isVariableDeclaration(value) ? initialOf(value) : undefined
    }
    if (ts.isPropertyAssignment(declaration)) return [declaration.initializer]
    if (ts.isEnumMember(declaration))
      return declaration.initializer === undefined ? undefined : [declaration.initializer]
    if (ts.isPropertyDeclaration(declaration))
      return declaration.initializer !== undefined && isReadonly(declaration) ? [declaration.initializer] : undefined
    return ts.isVariableDeclaration(declaration) ? initialOf(declaration) : undefined
  }
  const initialOf = (variable: ts.VariableDeclaration): readonly ts.Expression[] | undefined =>
    variable.initializer === undefined ? undefined : [variable.initializer, ...assignedIn(checker, variable)]

  const textsOf = (given: ts.Expression, depth: number): readonly Text[] => {
    if (depth > MOST_DEEP) return [UNKNOWN]
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
      const initial = initializersOf(expression)
      return initial === undefined ? [UNKNOWN] : several(initial, depth)
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
    const initial = initializersOf(name)
    return initial === undefined ? [UNKNOWN] : several(initial, depth)
  }

  const ofCall = (call: ts.CallExpression, depth: number): readonly Text[] => {
    const name = calledName(checker, call.expression)
    switch (name) {
      case 'join':
      case 'resolve':
      case 'normalize': {
        const parts = call.arguments.map((each) => textsOf(each, depth + 1))
        return joinedPaths(parts, name === 'resolve')
      }
      case 'dirname':
        return call.arguments.length === 1 ? several([...call.arguments], depth).map(folder) : [UNKNOWN]
      case 'cwd':
        return [whole('.')]
      case 'homedir':
        return [whole('~')]
      case 'tmpdir':
        return [whole('/tmp')]
      case 'fileURLToPath':
        return several([...call.arguments].slice(0, 1), depth).map(pathOfUrl)
      case 'toString':
      case 'trim':
        return ts.isPropertyAccessExpression(call.expression)
          ? textsOf(call.expression.expression, depth + 1)
          : [UNKNOWN]
      case 'String':
        return several([...call.arguments].slice(0, 1), depth)
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
      else if (ts.isPropertyAssignment(each) && nameOf(each.name) === name) found = each.initializer
      else if (ts.isShorthandPropertyAssignment(each) && each.name.text === name) found = each.name
    }
    return found
  }

  const constant = (expression: ts.Expression): string | undefined => {
    const [text, ...more] = textsOf(expression, 0)
    return text?.kind === 'whole' && more.length === 0 ? text.text : undefined
  }
  return {
    texts: (expression) => textsOf(expression, 0),
    constant,
    property: (given, name) => property(given, name),
    initial: (expression) => initialExpression(bare(expression)),
  }
}

export const nameOf = (name: ts.PropertyName): string | undefined =>
  ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : undefined

/** The name under which a called function was declared. */
const calledName = (checker: ts.TypeChecker, callee: ts.Expression): string | undefined => {
  const name = ts.isPropertyAccessExpression(callee) ? callee.name : ts.isIdentifier(callee) ? callee : undefined
  const symbol = name === undefined ? undefined : checker.getSymbolAtLocation(name)
  if (name === undefined || symbol === undefined) return undefined
  const [declaration] = declarationsOf(checker, symbol)
  // A function of the project may have the same name.
  if (declaration === undefined || !declaration.getSourceFile().isDeclarationFile) return undefined
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol).name : symbol.name
}

const isReadonly = (declaration: ts.PropertyDeclaration): boolean =>
  (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Readonly) !== 0

const isNamed = (expression: ts.Expression, name: string): boolean =>
  ts.isIdentifier(expression) && expression.text === name

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
