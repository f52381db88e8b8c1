// Prettier breaks code at 120 columns, except names of tests. This test checks the comments, which Prettier does not
// break.
import { join } from 'node:path'

import ts from 'typescript'
import { expect, it } from 'vitest'

import { FOLDERS, readTree } from './source-tree.js'

const ROOT = join(import.meta.dirname, '..', '..')
const MOST_COLUMNS = 120
const NAMED_TEST = /^ *(?:test|it|describe|claim)\b/

const LITERALS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.RegularExpressionLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateExpression,
])

/** Lines beyond the columns. A text or a pattern that crosses the edge cannot be broken without being changed. */
const wideLines = (path: string, text: string): readonly string[] => {
  if (!text.split('\n').some((line) => line.length > MOST_COLUMNS)) return []
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const literals: (readonly [number, number])[] = []
  const visit = (node: ts.Node): void => {
    if (LITERALS.has(node.kind)) literals.push([node.getStart(source), node.getEnd()])
    else ts.forEachChild(node, visit)
  }
  visit(source)
  const starts = source.getLineStarts()
  return text.split('\n').flatMap((line, at) => {
    const edge = (starts[at] ?? 0) + MOST_COLUMNS
    const isLiteral = literals.some(([from, to]) => from <= edge && edge <= to)
    return line.length > MOST_COLUMNS && !isLiteral && !NAMED_TEST.test(line) ? [`${path}:${String(at + 1)}`] : []
  })
}

it('no line is longer than 120 columns, except texts and patterns', () => {
  const files = readTree(ROOT, [...FOLDERS.sources, ...FOLDERS.tests, ...FOLDERS.scripts], /\.(?:ts|mjs)$/)
  expect(files.length).toBeGreaterThan(500)
  expect(files.flatMap(({ path, text }) => wideLines(path, text))).toEqual([])
})

it('finds a long comment, and skips a long text', () => {
  const long = 'x'.repeat(MOST_COLUMNS)
  expect(wideLines('a.ts', `// ${long}\nexport const a = '${long}'\n`)).toEqual(['a.ts:1'])
})
