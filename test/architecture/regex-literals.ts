// Finds every regular expression in the source of a room.
import { readFileSync } from 'node:fs'

import ts from 'typescript'

export interface Literal {
  readonly file: string
  readonly line: number
  readonly pattern: RegExp
}

export const literalsIn = (file: string): readonly Literal[] => {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const found: Literal[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push({
        file,
        line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1,
        pattern: new RegExp(node.text.slice(1, end), node.text.slice(end + 1)),
      })
    }
    node.forEachChild(visit)
  }
  visit(source)
  return found
}
