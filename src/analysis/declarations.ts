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

/** What is assigned to a variable after its declaration. */
export const assignedIn = (checker: ts.TypeChecker, variable: ts.VariableDeclaration): readonly ts.Expression[] => {
  if (ts.getCombinedNodeFlags(variable) & ts.NodeFlags.Const || !ts.isIdentifier(variable.name)) return []
  const { text } = variable.name
  const symbol = checker.getSymbolAtLocation(variable.name)
  const found: ts.Expression[] = []
  const look = (node: ts.Node): void => {
    if (
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
      node.operatorToken.kind <= ts.SyntaxKind.LastAssignment &&
      ts.isIdentifier(node.left) &&
      node.left.text === text &&
      checker.getSymbolAtLocation(node.left) === symbol
    )
      found.push(node.right)
    ts.forEachChild(node, look)
  }
  look(variable.getSourceFile())
  return found
}
