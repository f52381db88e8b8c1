// Redirections of a command line: files, here-documents, here-strings and processes.
import { endOfDocuments, hereDocumentAt } from './here-documents.js'
import { giveUp, isAtWord, letterAt, skipBlanks, takeMentioned } from './line-reader.js'
import type { LineReader } from './line-reader.js'
import { DESCRIPTOR } from './shell-grammar.js'
import { UNREADABLE, endOfParenthesis } from './shell-quoting.js'
import { noteSubstitutions } from './shell-words.js'

const OPERATOR = /^(?:<<<|<<-?|[<>]\(|<&|<>|>>|>&|>\||<|>|&>>?)/

/** At `<`, `>` or `&>`. */
export const redirect = (reader: LineReader): void => {
  const { line, at, draft } = reader
  reader.isPlain = false
  dropDescriptor(reader)
  draft.hasPrefix = true
  if (letterAt(reader) === '&') draft.alsoFrom ??= draft.words.length
  const operator = OPERATOR.exec(line.slice(at, at + 3))?.[0] ?? '<'
  if (operator === '<<' || operator === '<<-') {
    awaitDocument(reader, operator)
    return
  }
  if (isAtProcess(reader)) {
    passProcess(reader)
    draft.words.push({ text: '', isKnown: false })
    return
  }
  reader.at += operator.length
  skipBlanks(reader)
  if (isAtProcess(reader)) {
    passProcess(reader)
    return
  }
  const target = isAtWord(reader) ? takeMentioned(reader) : undefined
  if (operator === '<<<' && target !== undefined) draft.input.push(target)
}

/** The `2` of `2>f` is no word of the command. */
const dropDescriptor = ({ at, draft }: LineReader): void => {
  const last = draft.words.at(-1)
  if (last !== undefined && draft.lastEnd === at && draft.isLastBare && DESCRIPTOR.test(last.text)) draft.words.pop()
}

const awaitDocument = (reader: LineReader, operator: '<<' | '<<-'): void => {
  const { line, at, draft, awaited } = reader
  const document = hereDocumentAt(line, at + 2)
  if (document === 'unreadable') {
    giveUp(reader)
    reader.at += operator.length
    return
  }
  awaited.push({ document, draft })
  reader.at = document.end
}

/** At `<(` or `>(`. */
export const isAtProcess = ({ line, at }: LineReader): boolean => line.startsWith('<(', at) || line.startsWith('>(', at)

const passProcess = (reader: LineReader): void => {
  const { line, findings } = reader
  const start = reader.at + 2
  const end = endOfParenthesis(line, start)
  if (end === UNREADABLE) giveUp(reader)
  const until = end === UNREADABLE ? line.length : end
  findings.inner.push(line.slice(start, until))
  reader.at = until + 1
}

/** Behind the end of a line: the texts of its here-documents. */
export const readDocuments = (reader: LineReader): void => {
  const { line, at, awaited, findings } = reader
  const { end, bodies } = endOfDocuments(
    line,
    at,
    awaited.map(({ document }) => document),
  )
  for (const [index, { text, isReadable, isQuoted }] of bodies.entries()) {
    if (!isQuoted) noteSubstitutions(text, 'count', findings)
    if (!isReadable) {
      findings.inner.push(text)
      giveUp(reader)
    }
    awaited[index]?.draft.input.push({ text, isKnown: isQuoted || !/[$`]/.test(text) })
  }
  reader.awaited = []
  reader.at = end
}
