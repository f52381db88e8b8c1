// Here-documents of a shell line: their delimiters, and where their texts end.
import { isWordEnd } from './shell-grammar.js'

export interface HereDocument {
  readonly delimiter: string
  /** `<<-`: tabs before a line do not count. */
  readonly isStripped: boolean
  /** Nothing in it is expanded. */
  readonly isQuoted: boolean
  /** Behind the delimiter. */
  readonly end: number
}

/** Behind `<<`. The delimiter is the next word without its quotes. Nothing in it is expanded. */
export const hereDocumentAt = (line: string, from: number): HereDocument | 'unreadable' => {
  const isStripped = line[from] === '-'
  let at = from + (isStripped ? 1 : 0)
  while (line[at] === ' ' || line[at] === '\t') at += 1
  if (line[at] === '#') return 'unreadable'
  let delimiter = ''
  let isQuoted = false
  for (; !isWordEnd(line[at]); at += 1) {
    const letter = line[at] ?? ''
    if (letter === '$' || letter === '`') return 'unreadable'
    if (letter === '\\') {
      at += 1
      delimiter += line[at] ?? ''
      isQuoted = true
    } else if (letter === "'" || letter === '"') {
      const end = line.indexOf(letter, at + 1)
      if (end === -1) return 'unreadable'
      const quoted = line.slice(at + 1, end)
      if (letter === '"' && /[\\$`]/.test(quoted)) return 'unreadable'
      delimiter += quoted
      isQuoted = true
      at = end
    } else delimiter += letter
  }
  return (delimiter === '' && !isQuoted) || delimiter.includes('\n')
    ? 'unreadable'
    : { delimiter, isStripped, isQuoted, end: at }
}

interface DocumentBody extends HereDocument {
  readonly text: string
  /** False if its delimiter is missing, or if shells find it in different places. */
  readonly isReadable: boolean
}

/** Behind the line that names them: their texts, and the start of the next line. */
export const endOfDocuments = (
  line: string,
  from: number,
  documents: readonly HereDocument[],
): { readonly end: number; readonly bodies: readonly DocumentBody[] } => {
  let at = from
  const bodies = documents.map((document): DocumentBody => {
    const { delimiter, isStripped, isQuoted } = document
    const start = at
    /** The lines so far that end in a backslash. Only some shells join them before they look for the delimiter. */
    let joined: string | undefined
    let isReadable = true
    while (at < line.length) {
      const newline = line.indexOf('\n', at)
      const end = newline === -1 ? line.length : newline
      const text = isStripped ? line.slice(at, end).replace(/^\t+/, '') : line.slice(at, end)
      const before = at
      at = Math.min(end + 1, line.length)
      if (text === delimiter)
        return { ...document, text: line.slice(start, before), isReadable: isReadable && joined === undefined }
      // Within `$(…)` some shells accept the closing parenthesis on the line of the delimiter.
      if (text.startsWith(delimiter) && text.includes(')', delimiter.length)) isReadable = false
      if (isQuoted) continue
      const isContinued = endsInBackslash(text)
      const whole = (joined ?? '') + (isContinued ? text.slice(0, -1) : text).replaceAll('\t', '')
      if (joined !== undefined && whole === delimiter.replaceAll('\t', '')) isReadable = false
      // A longer text cannot be the delimiter.
      joined = isContinued ? whole.slice(0, delimiter.length + 1) : undefined
    }
    return { ...document, text: line.slice(start), isReadable: false }
  })
  return { end: at, bodies }
}

/** In a backslash that is not itself escaped. */
const endsInBackslash = (text: string): boolean => {
  let at = text.length
  while (text[at - 1] === '\\') at -= 1
  return (text.length - at) % 2 === 1
}
