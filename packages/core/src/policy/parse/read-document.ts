import { LineCounter, isMap, isNode, isScalar, parseDocument } from 'yaml'
import type { Document, Range } from 'yaml'

import { fail, messageOf } from '../../errors/index.js'

import { rootNode } from './policy-node.js'
import type { KeyPath, PolicyNode } from './policy-node.js'

/** Reads one YAML or JSON document into a node that knows the file and line of every value. */
export const readDocument = (text: string, fileName: string): PolicyNode => {
  const lines = new LineCounter()
  // JSON is read as YAML, which gives it line numbers too.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    merge: false,
    logLevel: 'error',
  })
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
    // Aliases without an anchor, or more of them than the library permits.
    throw fail('policy-syntax', { source: fileName, problem: messageOf(cause) }, cause)
  }
}

/** The line of the key or list item at a path, or of the closest parent that has one. */
const locate = (document: Document, lines: LineCounter, fileName: string, path: KeyPath): string => {
  for (let length = path.length; length > 0; length -= 1) {
    const range = rangeAt(document, path.slice(0, length))
    if (range !== undefined) return `${fileName}:${lines.linePos(range[0]).line}`
  }
  return fileName
}

/** The range of the key, because a value may begin lines below it and people look for the key. */
const rangeAt = (document: Document, path: KeyPath): Range | undefined => {
  const last = path.at(-1)
  const around = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const key = isMap(around)
    ? around.items.map((pair) => pair.key).find((node) => isScalar(node) && String(node.value) === last)
    : undefined
  const node = isScalar(key) ? key : document.getIn(path, true)
  return isNode(node) ? (node.range ?? undefined) : undefined
}
