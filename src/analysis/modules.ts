// Files of the project, by the names under which modules import them.
import { posix } from 'node:path'

import ts from 'typescript'

/** `named`: a path from the file `from`, an absolute one, or a URL of a file. */
export const fileNamed = (program: ts.Program, named: string, from: string): ts.SourceFile | undefined => {
  const path = posix.resolve(posix.dirname(from), decodeURIComponent(named.replace(/^file:\/\//, '')))
  // A file of TypeScript is imported by the name that it will have.
  const names = [path, path.replace(/\.([cm]?)js$/, '.$1ts'), path.replace(/\.js$/, '.tsx')]
  return names.map((each) => program.getSourceFile(each)).find((file) => file !== undefined)
}

/** The declarations of everything that a file exports. */
export const exportsOf = (checker: ts.TypeChecker, file: ts.SourceFile): readonly ts.Declaration[] => {
  const symbol = checker.getSymbolAtLocation(file)
  if (symbol === undefined) return []
  return checker.getExportsOfModule(symbol).flatMap((each) => exportedDeclarations(checker, each))
}

export const exportedDeclarations = (checker: ts.TypeChecker, symbol: ts.Symbol): readonly ts.Declaration[] => {
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0
  return (isAlias ? checker.getAliasedSymbol(symbol) : symbol).declarations ?? []
}
