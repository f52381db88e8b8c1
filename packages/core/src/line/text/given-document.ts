// Reads a YAML or JSON file, or standard input, that the command line names. Errors speak of a file, not of a policy.
import { readFileSync } from 'node:fs'

import { CordonError, codeOf, fail, messageOf, reasonOf } from '../../errors/index.js'
import { readDocument } from '../../policy/index.js'
import type { PolicyNode } from '../../policy/index.js'

const STDIN = '-'

interface GivenDocument {
  readonly name: string
  readonly node: PolicyNode
}

export const readGivenDocument = (path: string, fix: string): GivenDocument => {
  const name = path === STDIN ? 'standard input' : path
  const text = read(path, fix)
  try {
    return { name, node: readDocument(text, name) }
  } catch (error) {
    if (!(error instanceof CordonError) || error.code !== 'policy-syntax') throw error
    const { source, problem } = isJson(name, text)
      ? jsonProblem(name, text)
      : { source: error.params['source'] ?? name, problem: error.params['problem'] ?? error.message }
    throw fail('file-syntax', { source, problem, form: isJson(name, text) ? 'JSON' : 'YAML', fix }, error)
  }
}

const read = (path: string, fix: string): string => {
  try {
    return readFileSync(path === STDIN ? 0 : path, 'utf8')
  } catch (error) {
    const isMissing = codeOf(error) === 'ENOENT'
    throw fail(
      'file-unreadable',
      { path, problem: reasonOf(error), fix: isMissing ? `name a file that exists, from ${process.cwd()}` : fix },
      error,
    )
  }
}

/** JSON is read as YAML, but errors about it speak of JSON. */
const isJson = (name: string, text: string): boolean => name.endsWith('.json') || /^\s*[[{]/.test(text)

const jsonProblem = (name: string, text: string): { readonly source: string; readonly problem: string } => {
  try {
    JSON.parse(text)
    // Only YAML refuses that.
    return { source: name, problem: 'a key is given twice' }
  } catch (error) {
    const message = messageOf(error)
    const at = /at position (\d+)/.exec(message)?.[1]
    const line = at === undefined ? text.trimEnd().split('\n').length : text.slice(0, Number(at)).split('\n').length
    return { source: `${name}:${String(line)}`, problem: message.split(/ (?:in JSON )?at position /, 1)[0] ?? message }
  }
}
