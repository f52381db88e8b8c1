import { joinNames } from './absolute-path.js'
import type { AbsolutePath } from './absolute-path.js'

/**
 * The path of a request as the names that its server will see, or nothing where servers differ:
 * encoded slashes, backslashes, dot segments, doubled slashes, broken escapes. The query is left out.
 */
export const parseUrlPath = (text: string): AbsolutePath | undefined => {
  const path = text.replace(/[?#].*$/s, '')
  if (!path.startsWith('/')) return undefined
  const pieces = path.slice(1).split('/')
  // One slash at the end is common, and no rule can mean only the path without it.
  if (pieces.at(-1) === '') pieces.pop()
  const names = pieces.map(decodeName)
  return names.every((name) => name !== undefined) ? joinNames(names) : undefined
}

const AMBIGUOUS = /[/\\\0]|^\.{0,2}$/

const decodeName = (piece: string): string | undefined => {
  try {
    const name = decodeURIComponent(piece)
    return AMBIGUOUS.test(name) ? undefined : name
  } catch {
    return undefined
  }
}
