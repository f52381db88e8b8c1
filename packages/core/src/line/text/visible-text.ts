// Shows text of others: it cannot move the cursor, hide, or change the text direction.
import { shellWord } from '../../platform/index.js'

/** Controls, formats, unassigned characters, and all blanks except the plain one. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu

const escapeOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
}

/** On one line, with invisible characters as escapes. `##[` is a command for runners of jobs, wherever it stands. */
export const visible = (text: string): string => text.replace(UNSEEN, escapeOf).replaceAll('##[', '#\\x23[')

/** A word of a command as it could be typed. Each word has exactly one form. */
export const visibleWord = (word: string): string => {
  if (word.search(UNSEEN) === -1) return shellWord(word)
  return `$'${word.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replace(UNSEEN, escapeOf)}'`
}

const columnsOf = (character: string): number => ((character.codePointAt(0) ?? 0) > 0x2ff ? 2 : 1)

/** Lines of at most this many columns, broken at blanks, or within longer words. */
export const wrapText = (text: string, columns: number): readonly string[] => {
  const lines: string[] = []
  let line = ''
  let width = 0
  const end = (): void => {
    lines.push(line.trimEnd())
    line = ''
    width = 0
  }
  for (const word of text.split(/(?<= )/)) {
    const wide = Array.from(word.trimEnd(), columnsOf).reduce((sum, each) => sum + each, 0)
    if (width > 0 && width + wide > columns) end()
    for (const character of word) {
      if (character !== ' ' && width + columnsOf(character) > columns) end()
      line += character
      width += columnsOf(character)
    }
  }
  end()
  return lines
}

/** Lines of at most this many columns, each behind a mark. A line that the terminal wraps could look like Cordon's. */
export const markedLines = (text: string, columns: number, mark: string): readonly string[] => {
  const lines: string[] = []
  let line = ''
  let width = 0
  for (const character of text) {
    const columnsOfIt = columnsOf(character)
    if (width + columnsOfIt > columns) {
      lines.push(mark + line)
      line = ''
      width = 0
    }
    line += character
    width += columnsOfIt
  }
  return [...lines, mark + line]
}
