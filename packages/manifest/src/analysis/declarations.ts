// Declarations of the project itself.
import ts from 'typescript'

/** Without parentheses and types around it. */
export const bare = (expression: ts.Expression): ts.Expression => {
  let inner = expression
  while (
    ts.isParenthesizedExpression(inner) ||
    ts.isAsExpression(inner) ||
    ts.isSatisfiesExpression(inner) ||
    ts.isNonNullExpression(inner) ||
    ts.isTypeAssertionExpression(inner)
  )
    inner = inner.expression
  return inner
}

/** Code of the project, and not of a package or of declarations alone. */
export const isOwnCode = (node: ts.Node): boolean => {
  const file = node.getSourceFile()
  return !file.isDeclarationFile && !file.fileName.includes('/node_modules/')
}

/** Of what a name stands for in the end, across imports and exports. */
export const declarationsOf = (checker: ts.TypeChecker, symbol: ts.Symbol): readonly ts.Declaration[] => {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return target.declarations ?? []
}

/** What is written to a variable, a parameter or a property after its declaration. */
export interface Writes {
  /** Values that are assigned as they are. */
  readonly values: readonly ts.Expression[]
  /** Something else is written too: by `+=`, a loop, a pattern. */
  readonly isMore: boolean
}

const NONE: Writes = { values: [], isMore: false }

/** Of a variable or parameter, by its symbol. Of a property, by its name: an object may have several names. */
export const writesTo = (
  checker: ts.TypeChecker,
  declaration: ts.VariableDeclaration | ts.ParameterDeclaration | ts.PropertyDeclaration | ts.PropertyAssignment,
): Writes => {
  const { name } = declaration
  if (ts.isVariableDeclaration(declaration) && ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const) return NONE
  if (!ts.isIdentifier(name)) return NONE
  const isProperty = ts.isPropertyDeclaration(declaration) || ts.isPropertyAssignment(declaration)
  const symbol = checker.getSymbolAtLocation(name)
  const isTarget = (node: ts.Node): boolean =>
    isProperty
      ? ts.isPropertyAccessExpression(node) && node.name.text === name.text
      : ts.isIdentifier(node) && node.text === name.text && checker.getSymbolAtLocation(node) === symbol
  const values: ts.Expression[] = []
  let isMore = false
  for (const { target, value } of assignmentsIn(declaration.getSourceFile())) {
    if (!isTarget(target)) continue
    if (value === undefined) isMore = true
    else values.push(value)
  }
  return { values, isMore }
}

/** Whether a part of the value is written: `url.host = …`. */
export const isChangedInside = (checker: ts.TypeChecker, symbol: ts.Symbol): boolean =>
  (symbol.declarations ?? []).some(
    (declaration) =>
      ts.isVariableDeclaration(declaration) &&
      assignmentsIn(declaration.getSourceFile()).some(
        ({ target }) =>
          ts.isPropertyAccessExpression(target) &&
          ts.isIdentifier(target.expression) &&
          checker.getSymbolAtLocation(target.expression) === symbol,
      ),
  )

interface Assignment {
  readonly target: ts.Node
  /** Undefined if it is not the whole new value. */
  readonly value: ts.Expression | undefined
}

const assignments = new WeakMap<ts.SourceFile, readonly Assignment[]>()

const assignmentsIn = (file: ts.SourceFile): readonly Assignment[] => {
  const known = assignments.get(file)
  if (known !== undefined) return known
  const found: Assignment[] = []
  /** `[a, { b }] = …`: every name in it. */
  const inPattern = (node: ts.Node): void => {
    found.push({ target: node, value: undefined })
    ts.forEachChild(node, inPattern)
  }
  const look = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) {
      const { left, right, operatorToken } = node
      if (ts.isObjectLiteralExpression(left) || ts.isArrayLiteralExpression(left)) inPattern(left)
      else found.push({ target: left, value: WHOLE_VALUES.has(operatorToken.kind) ? right : undefined })
    } else if (
      (ts.isForOfStatement(node) || ts.isForInStatement(node)) &&
      !ts.isVariableDeclarationList(node.initializer)
    )
      inPattern(node.initializer)
    else if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node))
      found.push({ target: node.operand, value: undefined })
    ts.forEachChild(node, look)
  }
  look(file)
  assignments.set(file, found)
  return found
}

export const isAssignment = (kind: ts.SyntaxKind): boolean =>
  kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment

const WHOLE_VALUES: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.EqualsToken,
  ts.SyntaxKind.QuestionQuestionEqualsToken,
  ts.SyntaxKind.BarBarEqualsToken,
  ts.SyntaxKind.AmpersandAmpersandEqualsToken,
])
