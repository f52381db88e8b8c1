// The words and forms of the shell grammar that the reader of lines needs.

/** `a=`, `a[1]+=` */
export const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/
/** A command follows, or nothing does. */
export const PASSED_OVER = new Set('if then else elif fi while until do done { } ! esac in'.split(' '))
export const RESERVED = new Set([...PASSED_OVER, 'for', 'select', 'case', '[[', 'function', 'coproc'])
/** The word that opens a compound, and the word that closes it. */
export const CLOSED_BY: Readonly<Record<string, string>> = {
  'if': 'fi',
  'while': 'done',
  'until': 'done',
  'for': 'done',
  'select': 'done',
  'case': 'esac',
  '{': '}',
  '(': ')',
}
export const CLOSERS = new Set(Object.values(CLOSED_BY))
export const TEST_OPERATOR = /^(?:[=!]=|=|=~|-[a-z]{2})$/
export const SUBSCRIPT = /^[A-Za-z_]\w*\[/
/** `@(a|b)`, with plain letters only. */
export const SIMPLE_PATTERN = /^\([\w.|*?@+!-]*\)/
export const DESCRIPTOR = /^(?:\d+|\{[A-Za-z_]\w*\})$/

/** Whether every bracket of a shape is closed. */
export const isBalanced = (shape: string): boolean => {
  let depth = 0
  for (const letter of shape) {
    if (letter === '[') depth += 1
    else if (letter === ']' && depth > 0) depth -= 1
  }
  return depth === 0
}

const WORD_END = ' \t\n;&|()<>'

/** Whether an unquoted word ends before this letter, or at the end of the line (undefined). */
export const isWordEnd = (letter: string | undefined): boolean => letter === undefined || WORD_END.includes(letter)
