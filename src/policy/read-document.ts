import { LineCounter, isNode, parseDocument } from 'yaml'
import type { Document } from 'yaml'

import { fail } from '../errors/index.js'

import { rootNode } from './policy-node.js'
import type { KeyPath, PolicyNode } from './policy-node.js'

/** Reads one YAML or JSON document into a node that knows the file and line of every value. */
export const readDocument = (text: string, fileName: string): PolicyNode => {
  const lines = new LineCounter()
  // JSON is read as the subset of YAML that it is, which gives it line numbers too.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, merge: false })
  const problem = document.errors[0] ?? document.warnings[0]
  if (problem !== undefined) {
    const { line } = lines.linePos(problem.pos[0])
    throw fail('policy-syntax', { source: `${fileName}:${line}`, problem: problem.message }, problem)
  }
  return rootNode(toValue(document, fileName), (path) => locate(document, lines, fileName, path))
}

const toValue = (document: Document, fileName: string): unknown => {
  try {
    return document.toJS()
  } catch (cause) {
    // Aliases that refer to nothing, or that multiply beyond the library's bound.
    throw fail('policy-syntax', { source: fileName, problem: cause instanceof Error ? cause.message : String(cause) }, cause)
  }
}

/** The line of the value at a path, or of the closest thing around it that has one. */
const locate = (document: Document, lines: LineCounter, fileName: string, path: KeyPath): string => {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && Array.isArray(node.range)) return `${fileName}:${lines.linePos(node.range[0]).line}`
  }
  return fileName
}
