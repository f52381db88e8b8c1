// Splits a command line into its commands. Loops, conditions, groups, tests, functions and here-documents are followed
// far enough to find the commands in them; what cannot be read is said to be unreadable, and every denial fits it.
import { UNREADABLE, endOfDocuments, endOfLine, endOfParenthesis, hereDocumentAt, substitutionsIn } from './shell-quoting.js'
import type { HereDocument } from './shell-quoting.js'
import { isWordEnd, readWord } from './shell-words.js'
import type { Findings, ReadWord, Word } from './shell-words.js'

/** One command of a line. */
export interface CommandPart {
  readonly words: readonly Word[]
  /** The command may start at any of its words. */
  readonly startsAnywhere: boolean
  /** Texts that it gets as its standard input: here-documents and here-strings. */
  readonly input?: readonly Word[]
}

export interface SplitLine {
  /** One command, made of words that mean nothing but themselves. */
  readonly isPlain: boolean
  readonly parts: readonly CommandPart[]
  /** Words beside the commands: targets of redirections, lists of loops, values of assignments, operands of tests. */
  readonly mentioned: readonly Word[]
  /** Commands inside of substitutions, still to be split. */
  readonly inner: readonly string[]
  /** There may be commands that were not found. */
  readonly isUnreadable: boolean
}

/** `a=`, `a[1]+=` */
const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/
/** A command follows, or nothing does. */
const PASSED_OVER = new Set(['if', 'then', 'else', 'elif', 'fi', 'while', 'until', 'do', 'done', '{', '}', '!', 'esac', 'in'])
const DESCRIPTOR = /^(?:\d+|\{[A-Za-z_]\w*\})$/

interface Draft {
  words: Word[]
  startsAnywhere: boolean
  input: Word[]
  /** Where its last word ended: a number that stands directly before a redirection belongs to that. */
  lastEnd: number
  isLastBare: boolean
}

const newDraft = (): Draft => ({ words: [], startsAnywhere: false, input: [], lastEnd: -1, isLastBare: false })

export const splitLine = (line: string): SplitLine => {
  const parts: CommandPart[] = []
  const mentioned: Word[] = []
  const findings: Findings = { inner: [], isUnreadable: false }
  /** Of each `case` that is open: whether a pattern comes next, or commands. */
  const cases: ('pattern' | 'commands')[] = []
  let documents: { readonly document: HereDocument; readonly reader: Draft }[] = []
  let isPlain = true
  let at = 0
  let draft = newDraft()

  const endPart = (): void => {
    const { words, startsAnywhere, input } = draft
    // Its input may follow: a here-document begins on the next line.
    if (words.length > 0) parts.push({ words, startsAnywhere, input })
    draft = newDraft()
  }
  const skipBlanks = (letters = ' \t'): void => {
    while (at < line.length && letters.includes(line.charAt(at))) at += 1
  }
  const word = (): ReadWord => {
    const read = readWord(line, at, findings)
    at = Math.max(read.end, at)
    if (!read.isPlain) isPlain = false
    return read
  }
  /** A word that is of no command. */
  const wordAside = (): ReadWord => {
    const read = word()
    mentioned.push({ text: read.text, isKnown: read.isKnown })
    return read
  }
  const isAtWord = (): boolean => at < line.length && !isWordEnd(line.charAt(at))
  /** `at` stands behind an opening parenthesis; what is in between is expanded, and not run. */
  const passParenthesis = (): void => {
    const end = endOfParenthesis(line, at)
    const content = line.slice(at, end === UNREADABLE ? line.length : end)
    const { lines, isReadable } = substitutionsIn(content)
    mentioned.push(...content.split(/\s+/).map((text): Word => ({ text, isKnown: false })))
    findings.inner.push(...lines)
    if (!isReadable || end === UNREADABLE) findings.isUnreadable = true
    at = end === UNREADABLE ? line.length : end + 1
  }

  const readDocuments = (): void => {
    const { end, bodies } = endOfDocuments(line, at, documents.map(({ document }) => document))
    for (const [index, { text, isClosed, isQuoted }] of bodies.entries()) {
      const found = isQuoted ? { lines: [], isReadable: true } : substitutionsIn(text)
      findings.inner.push(...found.lines, ...(isClosed ? [] : [text]))
      if (!found.isReadable) findings.isUnreadable = true
      documents[index]?.reader.input.push({ text, isKnown: isQuoted || !/[$`]/.test(text) })
    }
    documents = []
    at = end
  }

  const redirect = (): void => {
    isPlain = false
    const [last] = draft.words.slice(-1)
    if (last !== undefined && draft.lastEnd === at && draft.isLastBare && DESCRIPTOR.test(last.text)) draft.words.pop()
    const operator = /^(?:<<<|<<-?|[<>]\(|<&|<>|>>|>&|>\||<|>|&>>?)/.exec(line.slice(at, at + 3))?.[0] ?? '<'
    if (operator === '<<' || operator === '<<-') {
      const document = hereDocumentAt(line, at + 2)
      if (document === 'unreadable') findings.isUnreadable = true
      else documents.push({ document, reader: draft })
      at = document === 'unreadable' ? at + operator.length : document.end
      return
    }
    at += operator.length
    if (operator.endsWith('(')) {
      const end = endOfParenthesis(line, at)
      if (end === UNREADABLE) findings.isUnreadable = true
      findings.inner.push(line.slice(at, end === UNREADABLE ? line.length : end))
      at = end === UNREADABLE ? line.length : end + 1
      draft.words.push({ text: '', isKnown: false })
      return
    }
    skipBlanks()
    const target = isAtWord() ? wordAside() : undefined
    if (operator === '<<<' && target !== undefined) draft.input.push(target)
  }

  /** `for x in a b`, `for x`, `for ((…))`: up to where commands begin. */
  const passLoop = (): void => {
    skipBlanks()
    if (line.startsWith('((', at)) {
      at += 2
      passParenthesis()
      if (line.charAt(at) === ')') at += 1
      return
    }
    if (isAtWord()) word()
    skipBlanks(' \t\n')
    const before = at
    if (!isAtWord() || word().bare !== 'in') {
      at = before
      return
    }
    skipBlanks()
    while (isAtWord()) {
      wordAside()
      skipBlanks()
    }
  }
  const passCase = (): void => {
    skipBlanks()
    if (isAtWord()) wordAside()
    skipBlanks(' \t\n')
    if (!isAtWord() || word().bare !== 'in') findings.isUnreadable = true
    cases.push('pattern')
  }
  const passPattern = (): void => {
    if (isAtWord()) {
      const { bare, isBare } = wordAside()
      if (isBare && bare === 'esac') cases.pop()
      return
    }
    if (line.charAt(at) === ')') cases[cases.length - 1] = 'commands'
    at += 1
  }
  /** `[[ … ]]`. A shell that does not know it runs what stands behind an operator in it. */
  const passTest = (): void => {
    let words: Word[] | undefined
    const end = (): void => {
      if (words?.[0]?.isKnown === true) parts.push({ words, startsAnywhere: false })
    }
    while (at < line.length) {
      skipBlanks()
      if (isAtWord()) {
        const read = wordAside()
        if (read.isBare && read.bare === ']]') {
          end()
          return
        }
        words?.push(read)
      } else if (line.charAt(at) === '(') at += 1
      else if ('<>'.includes(line.charAt(at)) && line.charAt(at + 1) !== '(') at += 1
      else if ('<>'.includes(line.charAt(at))) redirect()
      else if (at < line.length) {
        end()
        words = []
        at += 1
      }
    }
    findings.isUnreadable = true
  }

  /** Whether it was a word of the shell itself. Only the first of a command can be one, and only without quotes. */
  const isOfShell = ({ bare, isBare }: ReadWord): boolean => {
    if (!isBare) return false
    if (PASSED_OVER.has(bare)) {
      if (bare === 'esac') cases.pop()
    } else if (bare === 'for' || bare === 'select') passLoop()
    else if (bare === 'case') passCase()
    else if (bare === '[[') passTest()
    else if (bare === 'function') {
      skipBlanks()
      if (isAtWord()) word()
      skipBlanks()
      if (/^\(\s*\)/.test(line.slice(at, at + 16))) at = line.indexOf(')', at) + 1
    } else if (bare === 'time' || bare === 'coproc') draft.startsAnywhere = true
    else return false
    isPlain = false
    return true
  }
  const takeWord = (): void => {
    const read = word()
    // A line that goes on in the next one.
    if (read.text === '' && read.isBare) return
    const isArray = line.charAt(at) === '(' && ASSIGNMENT.test(read.bare) && read.text.endsWith('=')
    if (isArray) {
      at += 1
      passParenthesis()
      isPlain = false
    }
    if (draft.words.length === 0) {
      if (isOfShell(read)) return
      if (ASSIGNMENT.test(read.bare)) {
        isPlain = false
        mentioned.push({ text: read.text, isKnown: read.isKnown })
        return
      }
    }
    draft.words.push({ text: read.text, isKnown: read.isKnown })
    draft.lastEnd = at
    draft.isLastBare = read.isBare
  }
  /** `name()` is no command, and what follows is. */
  const openParenthesis = (): void => {
    const close = /^\(\s*\)/.exec(line.slice(at, at + 16))?.[0]
    if (draft.words.length === 1 && close !== undefined) {
      draft = newDraft()
      at += close.length
    } else {
      endPart()
      at += 1
    }
    isPlain = false
  }

  while (at < line.length) {
    const letter = line.charAt(at)
    if (letter === ' ' || letter === '\t') at += 1
    else if (letter === '\n') {
      endPart()
      at += 1
      isPlain = false
      if (documents.length > 0) readDocuments()
    } else if (letter === '#') {
      isPlain = false
      at = endOfLine(line, at)
    } else if (cases.at(-1) === 'pattern') passPattern()
    else if (letter === '<' || letter === '>' || line.startsWith('&>', at)) redirect()
    else if (letter === '(') openParenthesis()
    else if (isWordEnd(letter)) {
      const isNextPattern = cases.length > 0 && (line.startsWith(';;', at) || line.startsWith(';&', at))
      endPart()
      at += isNextPattern ? (line.startsWith(';;&', at) ? 3 : 2) : 1
      if (isNextPattern) cases[cases.length - 1] = 'pattern'
      isPlain = false
    } else takeWord()
  }
  endPart()
  if (documents.length > 0) findings.isUnreadable = true
  const { inner, isUnreadable } = findings
  return { isPlain: isPlain && !isUnreadable && parts.length === 1, parts, mentioned, inner, isUnreadable }
}
