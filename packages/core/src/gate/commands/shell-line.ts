// Splits a command line into its commands, also those in loops, conditions, groups, tests, functions and
// here-documents. A line is unreadable if anything in it is open at its end, or if bash and a POSIX shell would read it
// differently. Every denial fits an unreadable line.
import { newDraft } from './command-draft.js'
import type { CommandDraft } from './command-draft.js'
import { endOfDocuments, hereDocumentAt } from './here-documents.js'
import type { HereDocument } from './here-documents.js'
import {
  ASSIGNMENT,
  CLOSED_BY,
  CLOSERS,
  DESCRIPTOR,
  PASSED_OVER,
  RESERVED,
  SIMPLE_PATTERN,
  SUBSCRIPT,
  TEST_OPERATOR,
  isBalanced,
  isWordEnd,
} from './shell-grammar.js'
import { UNREADABLE, endOfArithmetic, endOfLine, endOfParenthesis } from './shell-quoting.js'
import { isCleanContinuation, noteSubstitutions, readWord } from './shell-words.js'
import type { Findings, ReadWord, Word } from './shell-words.js'

export interface CommandPart {
  readonly words: readonly Word[]
  /** The command may start at any of its words. */
  readonly startsAnywhere: boolean
  /** Texts of its standard input: here-documents and here-strings. */
  readonly input?: readonly Word[]
}

interface SplitLine {
  /** One command of words that mean nothing but themselves. */
  readonly isPlain: boolean
  readonly parts: readonly CommandPart[]
  /** Words outside of commands: targets of redirections, lists of loops, values of assignments, operands of tests. */
  readonly mentioned: readonly Word[]
  /** Commands inside of substitutions, still to be split. */
  readonly inner: readonly string[]
  /** The line may have commands that were not found. */
  readonly isUnreadable: boolean
  /** It ends in a comment. If it was cut out of a longer line, it was cut at the wrong place. */
  readonly endsInComment: boolean
  /** It has arithmetic or an array. There a shell expands texts once more, quoted ones too. */
  readonly evaluates: boolean
}

export const splitLine = (line: string): SplitLine => {
  const parts: CommandPart[] = []
  const mentioned: Word[] = []
  const findings: Findings = { inner: [], isUnreadable: line.includes('\0'), evaluates: false }
  /** The words that close the open compounds. Of a `case`, also whether a pattern comes next. */
  const open: { readonly closer: string; isAtPattern: boolean }[] = []
  /** One arithmetic expression was unreadable, so a later `((` is not tried again. */
  let isArithmeticLost = false
  let endsInComment = false
  let documents: { readonly document: HereDocument; readonly reader: CommandDraft }[] = []
  let isPlain = true
  let at = 0
  let draft = newDraft()

  const here = (): string => line.charAt(at)
  const giveUp = (): void => {
    findings.isUnreadable = true
  }
  const endPart = (): void => {
    const { words, startsAnywhere, input, alsoFrom = words.length } = draft
    // Its input may follow, because a here-document begins on the next line.
    if (words.length > 0) parts.push({ words, startsAnywhere, input })
    if (alsoFrom > 0 && alsoFrom < words.length) parts.push({ words: words.slice(alsoFrom), startsAnywhere, input })
    draft = newDraft()
  }
  const openCompound = (word: string): void => {
    open.push({ closer: CLOSED_BY[word] ?? '', isAtPattern: word === 'case' })
  }
  const closeCompound = (closer: string): void => {
    if (open.pop()?.closer !== closer) giveUp()
  }
  const isContinued = (): boolean => line.startsWith('\\\n', at)
  const skipContinuation = (): void => {
    if (!isCleanContinuation(line, at + 1)) giveUp()
    isPlain = false
    at += 2
  }
  const skipBlanks = (letters = ' \t'): void => {
    while (at < line.length) {
      if (isContinued()) skipContinuation()
      else if (letters.includes(here())) at += 1
      else return
    }
  }
  const word = (): ReadWord => {
    const read = readWord(line, at, findings)
    at = Math.max(read.end, at)
    if (!read.isPlain) isPlain = false
    return read
  }
  const mention = ({ text, isKnown }: Word): void => {
    mentioned.push({ text, isKnown })
  }
  /** A word outside of commands. */
  const wordAside = (): ReadWord => {
    const read = word()
    mention(read)
    return read
  }
  const isAtWord = (): boolean => at < line.length && !isWordEnd(here())
  /** `at` stands behind `((`. The expression is computed, not run. */
  const passArithmetic = (also: string): boolean => {
    findings.evaluates = true
    const end = isArithmeticLost ? UNREADABLE : endOfArithmetic(line, at, also)
    if (end === UNREADABLE) {
      isArithmeticLost = true
      giveUp()
      return false
    }
    const content = line.slice(at, end)
    noteSubstitutions(content, 'are-letters', findings)
    mentioned.push(...content.split(/\s+/).map((text): Word => ({ text, isKnown: false })))
    at = end + 2
    return true
  }
  /** `at` stands behind the parenthesis of `a=(`. Words follow up to the closing one. */
  const passArray = (): void => {
    findings.evaluates = true
    while (at < line.length) {
      skipBlanks(' \t\n')
      if (here() === ')') {
        at += 1
        return
      }
      if (!isAtWord()) break
      if (here() === '#') at = endOfLine(line, at)
      else if (!isBalanced(wordAside().shape)) break
    }
    giveUp()
  }

  const readDocuments = (): void => {
    const { end, bodies } = endOfDocuments(
      line,
      at,
      documents.map(({ document }) => document),
    )
    for (const [index, { text, isReadable, isQuoted }] of bodies.entries()) {
      if (!isQuoted) noteSubstitutions(text, 'count', findings)
      if (!isReadable) {
        findings.inner.push(text)
        giveUp()
      }
      documents[index]?.reader.input.push({ text, isKnown: isQuoted || !/[$`]/.test(text) })
    }
    documents = []
    at = end
  }

  const redirect = (): void => {
    isPlain = false
    const [last] = draft.words.slice(-1)
    if (last !== undefined && draft.lastEnd === at && draft.isLastBare && DESCRIPTOR.test(last.text)) draft.words.pop()
    draft.hasPrefix = true
    if (here() === '&') draft.alsoFrom ??= draft.words.length
    const operator = /^(?:<<<|<<-?|[<>]\(|<&|<>|>>|>&|>\||<|>|&>>?)/.exec(line.slice(at, at + 3))?.[0] ?? '<'
    if (operator === '<<' || operator === '<<-') {
      const document = hereDocumentAt(line, at + 2)
      if (document === 'unreadable') giveUp()
      else documents.push({ document, reader: draft })
      at = document === 'unreadable' ? at + operator.length : document.end
      return
    }
    at += operator.length
    if (operator.endsWith('(')) {
      passProcess()
      draft.words.push({ text: '', isKnown: false })
      return
    }
    skipBlanks()
    if (/^[<>]\($/.test(line.slice(at, at + 2))) {
      at += 2
      passProcess()
      return
    }
    const target = isAtWord() ? wordAside() : undefined
    if (operator === '<<<' && target !== undefined) draft.input.push(target)
  }
  /** `at` stands behind `<(` or `>(`. */
  const passProcess = (): void => {
    const end = endOfParenthesis(line, at)
    if (end === UNREADABLE) giveUp()
    const until = end === UNREADABLE ? line.length : end
    findings.inner.push(line.slice(at, until))
    at = until + 1
  }

  /** `for x in a b`, `for x`, `for ((…))`, up to the first command. */
  const passLoop = (): void => {
    skipBlanks()
    if (line.startsWith('((', at)) {
      at += 2
      passArithmetic(';')
      return
    }
    if (here() === '#') giveUp()
    if (isAtWord()) word()
    skipBlanks(' \t\n')
    const before = at
    if (!isAtWord() || here() === '#' || word().bare !== 'in') {
      at = before
      return
    }
    skipBlanks()
    while (isAtWord() && here() !== '#') {
      wordAside()
      skipBlanks()
    }
  }
  const passCase = (): void => {
    skipBlanks()
    if (isAtWord() && here() !== '#') wordAside()
    skipBlanks(' \t\n')
    if (!isAtWord() || word().bare !== 'in') giveUp()
  }
  const passPattern = (top: { isAtPattern: boolean }): void => {
    if (isAtWord()) {
      const { bare, isBare } = wordAside()
      if (isBare && bare === 'esac') closeCompound('esac')
      return
    }
    if (here() === ')') top.isAtPattern = false
    else if (!'(|'.includes(here())) giveUp()
    at += 1
  }
  /** `[[ … ]]`. A shell that does not know it runs the words behind an operator in it. */
  const passTest = (): void => {
    let words: Word[] | undefined
    const end = (): void => {
      const [first, second] = words ?? []
      if (words === undefined || first === undefined) return
      // A shell without `[[` would run `$a` of `$a == b`. Nobody writes that to run a command, so it does not count.
      if (first.isKnown || second === undefined || !TEST_OPERATOR.test(second.text))
        parts.push({ words, startsAnywhere: false })
    }
    findings.evaluates = true
    while (at < line.length) {
      skipBlanks()
      // Shells differ on comments and here-documents inside of a test.
      if (here() === '#' || line.startsWith('<<', at)) giveUp()
      if (isAtWord()) {
        const read = wordAside()
        if (read.isBare && read.bare === ']]') {
          end()
          return
        }
        words?.push(read)
      } else if (here() === '(') at += 1
      else if ('<>'.includes(here()) && line.charAt(at + 1) !== '(') at += 1
      else if ('<>'.includes(here())) redirect()
      else if (at < line.length) {
        end()
        words = []
        at += 1
      }
    }
    giveUp()
  }

  /** Whether it is a word of the shell itself. Only the first word of a command can be one, without quotes. */
  const isOfShell = ({ bare, isBare }: ReadWord): boolean => {
    if (!isBare) return false
    if (draft.hasPrefix && RESERVED.has(bare)) {
      // Most shells run a program of that name here, and none runs a loop.
      giveUp()
      return false
    }
    if (Object.hasOwn(CLOSED_BY, bare)) openCompound(bare)
    if (CLOSERS.has(bare)) closeCompound(bare)
    if (bare === 'for' || bare === 'select') passLoop()
    else if (bare === 'case') passCase()
    else if (bare === '[[') passTest()
    else if (bare === 'function') {
      skipBlanks()
      if (isAtWord()) word()
      skipBlanks()
      if (/^\(\s*\)/.test(line.slice(at, at + 16))) at = line.indexOf(')', at) + 1
    } else if (bare === 'time' || bare === 'coproc') draft.startsAnywhere = true
    else if (!PASSED_OVER.has(bare) && !(draft.startsAnywhere && (bare === '-p' || bare === '--'))) return false
    isPlain = false
    return true
  }
  const takeWord = (): void => {
    const read = word()
    const isFirst = draft.words.length === 0
    const isArray = here() === '(' && ASSIGNMENT.test(read.shape) && read.shape.endsWith('=')
    // In bash a subscript goes on to its bracket, past blanks and operators.
    if (SUBSCRIPT.test(read.shape)) {
      findings.evaluates = true
      if (!isBalanced(read.shape) && (isFirst || '<>|&;('.includes(here() || ' '))) giveUp()
    }
    if (isArray) {
      at += 1
      passArray()
      // The word continues behind the parenthesis.
      if (isAtWord()) giveUp()
      isPlain = false
    }
    if (isFirst) {
      if (isOfShell(read)) return
      if (ASSIGNMENT.test(read.shape)) {
        isPlain = false
        draft.hasPrefix = true
        mention(read)
        return
      }
    }
    draft.words.push({ text: read.text, isKnown: read.isKnown })
    draft.lastEnd = at
    draft.isLastBare = read.isBare
  }
  /** `name()` is not a command, but a command follows. */
  const openParenthesis = (): void => {
    const close = /^\(\s*\)/.exec(line.slice(at, at + 16))?.[0]
    isPlain = false
    if (draft.words.length === 1 && close !== undefined) {
      draft = newDraft()
      at += close.length
      return
    }
    if (draft.words.length > 0) {
      // Only a pattern such as `!(a|b)` can follow a word directly, and only in bash.
      const pattern = draft.lastEnd === at ? SIMPLE_PATTERN.exec(line.slice(at, at + 256))?.[0] : undefined
      if (pattern !== undefined) {
        draft.words.push({ text: '', isKnown: false })
        at += pattern.length
        draft.lastEnd = at
        return
      }
      giveUp()
    }
    endPart()
    if (line.startsWith('((', at)) {
      // A shell without arithmetic runs these as commands, so they are read as commands too.
      const before = at
      at += 2
      if (passArithmetic('') && line.slice(before, at).includes('<<')) giveUp()
      at = before
    }
    openCompound('(')
    at += 1
  }

  while (at < line.length) {
    const letter = here()
    const top = open.at(-1)
    const before = at
    const hadDocuments = documents.length > 0
    endsInComment = false
    if (letter === ' ' || letter === '\t') at += 1
    else if (isContinued()) skipContinuation()
    else if (letter === '\n') {
      endPart()
      at += 1
      isPlain = false
      if (documents.length > 0) readDocuments()
    } else if (letter === '#') {
      isPlain = false
      at = endOfLine(line, at)
      endsInComment = true
    } else if (top?.isAtPattern === true) passPattern(top)
    else if (letter === '<' || letter === '>' || line.startsWith('&>', at)) redirect()
    else if (letter === '(') openParenthesis()
    else if (isWordEnd(letter)) {
      const isNextPattern = top?.closer === 'esac' && (line.startsWith(';;', at) || line.startsWith(';&', at))
      endPart()
      if (letter === ')') closeCompound(')')
      at += isNextPattern ? (line.startsWith(';;&', at) ? 3 : 2) : 1
      if (isNextPattern) top.isAtPattern = true
      isPlain = false
    } else takeWord()
    // Shells differ on a here-document behind a newline in quotes or in a substitution.
    if (hadDocuments && letter !== '\n' && line.slice(before, at).includes('\n')) giveUp()
  }
  endPart()
  if (documents.length > 0 || open.length > 0) giveUp()
  const { inner, isUnreadable, evaluates } = findings
  // Denials of paths and hosts still see every word of an unreadable line.
  if (isUnreadable) mentioned.push(...line.split(/[\s'"\\;&|<>()$`]+/).map((text): Word => ({ text, isKnown: false })))
  return {
    isPlain: isPlain && !isUnreadable && parts.length === 1,
    parts,
    mentioned,
    inner,
    isUnreadable,
    endsInComment,
    evaluates,
  }
}
