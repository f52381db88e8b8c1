// Where quotes, substitutions and here-documents of a shell end. Everything here looks at each letter once per level of
// nesting, and answers UNREADABLE for what is never closed: who reads on behind a wrong end could overlook a command.

export const UNREADABLE = -1
/** A person nests three or four; beyond this nobody needs to know what a line means. */
const MAX_DEPTH = 50

/** Behind a single quote: the place of the next one. */
export const endOfSingle = (line: string, from: number): number => line.indexOf("'", from)

/** Behind `$'` or a backquote: the place of what closes it, past escapes. */
export const endOfEscaped = (line: string, from: number, close: "'" | '`'): number => {
  for (let at = from; at < line.length; at += 1) {
    if (line[at] === '\\') at += 1
    else if (line[at] === close) return at
  }
  return UNREADABLE
}

/** Behind a double quote: the place of the one that closes it. */
export const endOfDouble = (line: string, from: number, depth = 0): number => {
  if (depth > MAX_DEPTH) return UNREADABLE
  for (let at = from; at < line.length; at += 1) {
    const letter = line[at]
    if (letter === '"') return at
    const end = letter === '\\' ? at + 1 : letter === '`' || letter === '$' ? endOfExpansion(line, at, true, depth) : at
    if (end === UNREADABLE) return UNREADABLE
    at = end
  }
  return UNREADABLE
}

/** At a dollar sign or a backquote: the last place of what begins there, or the same place where nothing does. */
const endOfExpansion = (line: string, at: number, isInDouble: boolean, depth: number): number => {
  if (line[at] === '`') return endOfEscaped(line, at + 1, '`')
  const next = line[at + 1]
  if (next === '(') return endOfParenthesis(line, at + 2, depth + 1)
  if (next === '{') return endOfBrace(line, at + 2, isInDouble, depth + 1)
  if (next === "'" && !isInDouble) return endOfEscaped(line, at + 2, "'")
  return at
}

/** Behind `${`: the place of the brace that closes it. Within double quotes a single quote is a letter. */
export const endOfBrace = (line: string, from: number, isInDouble: boolean, depth = 0): number => {
  if (depth > MAX_DEPTH) return UNREADABLE
  for (let at = from; at < line.length; at += 1) {
    const letter = line[at]
    if (letter === '}') return at
    const end = endOfQuoted(line, at, isInDouble, depth)
    if (end === UNREADABLE) return UNREADABLE
    at = end
  }
  return UNREADABLE
}

const endOfQuoted = (line: string, at: number, isInDouble: boolean, depth: number): number => {
  switch (line[at]) {
    case '\\':
      return at + 1
    case "'":
      return isInDouble ? at : endOfSingle(line, at + 1)
    case '"':
      return endOfDouble(line, at + 1, depth + 1)
    case '$':
    case '`':
      return endOfExpansion(line, at, isInDouble, depth)
    default:
      return at
  }
}

const isWordEnd = (letter: string | undefined): boolean => letter === undefined || ' \t\n;&|()<>'.includes(letter)

/** Behind an opening parenthesis: the place of the one that closes it, past comments, here-documents and patterns of `case`. */
export const endOfParenthesis = (line: string, from: number, depth = 0): number => {
  if (depth > MAX_DEPTH) return UNREADABLE
  const documents: HereDocument[] = []
  let open = 0
  let cases = 0
  for (let at = from; at < line.length; at += 1) {
    const isWordStart = isWordEnd(line[at - 1])
    switch (line[at]) {
      case '(':
        open += 1
        break
      case ')':
        if (open > 0) open -= 1
        else if (cases === 0) return at
        break
      case '#':
        if (isWordStart) at = endOfLine(line, at) - 1
        break
      case '\n':
        at = endOfDocuments(line, at + 1, documents.splice(0)).end - 1
        break
      case '<': {
        const document = line[at + 1] === '<' && line[at + 2] !== '<' && line[at - 1] !== '<' ? hereDocumentAt(line, at + 2) : undefined
        if (document === 'unreadable') return UNREADABLE
        if (document === undefined) break
        documents.push(document)
        at = document.end - 1
        break
      }
      default: {
        if (isWordStart && line.startsWith('case', at) && isWordEnd(line[at + 4])) cases += 1
        if (isWordStart && line.startsWith('esac', at) && isWordEnd(line[at + 4])) cases -= 1
        const end = endOfQuoted(line, at, false, depth)
        if (end === UNREADABLE) return UNREADABLE
        at = end
      }
    }
  }
  return UNREADABLE
}

export const endOfLine = (line: string, from: number): number => {
  const end = line.indexOf('\n', from)
  return end === -1 ? line.length : end
}

export interface HereDocument {
  readonly delimiter: string
  /** `<<-`: tabs before a line do not count. */
  readonly isStripped: boolean
  /** Nothing in it is expanded. */
  readonly isQuoted: boolean
  /** Behind the delimiter. */
  readonly end: number
}

/** Behind `<<`. The delimiter is the word as it is written, without its quotes; nothing in it is expanded. */
export const hereDocumentAt = (line: string, from: number): HereDocument | 'unreadable' => {
  const isStripped = line[from] === '-'
  let at = from + (isStripped ? 1 : 0)
  while (line[at] === ' ' || line[at] === '\t') at += 1
  let delimiter = ''
  let isQuoted = false
  for (; at < line.length && !isWordEnd(line[at]); at += 1) {
    const letter = line[at] ?? ''
    if (letter === '$' || letter === '`') return 'unreadable'
    if (letter === '\\') {
      at += 1
      delimiter += line[at] ?? ''
      isQuoted = true
    } else if (letter === "'" || letter === '"') {
      const end = line.indexOf(letter, at + 1)
      if (end === -1) return 'unreadable'
      delimiter += line.slice(at + 1, end)
      isQuoted = true
      at = end
    } else delimiter += letter
  }
  return delimiter === '' && !isQuoted ? 'unreadable' : { delimiter, isStripped, isQuoted, end: at }
}

export interface DocumentBody extends HereDocument {
  readonly text: string
  /** Its delimiter stands behind it. */
  readonly isClosed: boolean
}

/** Behind the end of the line that names them: their texts, and where the next line begins. */
export const endOfDocuments = (line: string, from: number, documents: readonly HereDocument[]): { readonly end: number; readonly bodies: readonly DocumentBody[] } => {
  let at = from
  const bodies = documents.map((document): DocumentBody => {
    const start = at
    while (at < line.length) {
      const end = endOfLine(line, at)
      const text = document.isStripped ? line.slice(at, end).replace(/^\t+/, '') : line.slice(at, end)
      const before = at
      at = Math.min(end + 1, line.length)
      if (text === document.delimiter) return { ...document, text: line.slice(start, before), isClosed: true }
    }
    return { ...document, text: line.slice(start), isClosed: false }
  })
  return { end: at, bodies }
}

/**
 * The command lines within a text in which a shell expands: a here-document, an arithmetic expression, `${…}`. Quotes do not
 * count there, so one that stands in quotes is found as well.
 */
export const substitutionsIn = (text: string): { readonly lines: readonly string[]; readonly isReadable: boolean } => {
  const lines: string[] = []
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '`' || (text[at] === '$' && text[at + 1] === '(')) {
      const end = endOfExpansion(text, at, true, 0)
      if (end === UNREADABLE) return { lines, isReadable: false }
      lines.push(text[at] === '`' ? text.slice(at + 1, end).replaceAll('\\`', '`') : text.slice(at + 2, end))
      at = end
    }
  }
  return { lines, isReadable: true }
}
