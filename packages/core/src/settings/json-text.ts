// Reads and changes text in JSON, with comments and trailing commas as several programs allow them. Changes keep both.
import { applyEdits, modify, parse, printParseErrorCode, visit } from 'jsonc-parser'
import type { ParseError } from 'jsonc-parser'

import { isMapping } from '../shapes/index.js'

const WORDS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'a word here is not a JSON value',
  InvalidNumberFormat: 'a number is malformed',
  PropertyNameExpected: 'a name in quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a closing } is missing',
  CloseBracketExpected: 'a closing ] is missing',
  EndOfFileExpected: 'text follows the end of the value',
  InvalidCommentToken: 'a comment is not allowed here',
  UnexpectedEndOfComment: 'a comment has no end',
  UnexpectedEndOfString: 'a text has no closing quote',
  UnexpectedEndOfNumber: 'a number has no end',
  InvalidUnicode: 'a \\u is not followed by four digits',
  InvalidEscapeCharacter: 'a backslash is followed by a wrong letter',
  InvalidCharacter: 'a character is not allowed in a text',
}

export const parseJson = (text: string): unknown => {
  const errors: ParseError[] = []
  const value = parse(text, errors, { allowTrailingComma: true }) as unknown
  const [first] = errors
  if (first === undefined) {
    refuseUnclearNames(text)
    return value
  }
  const problem = WORDS[printParseErrorCode(first.error)] ?? 'it is malformed'
  throw new Error(`${problem} (line ${String(text.slice(0, first.offset).split('\n').length)})`)
}

/** Names that another program would read otherwise: the first of two, or an entry where the parser sees a prototype. */
const refuseUnclearNames = (text: string): void => {
  const open: Set<string>[] = []
  visit(text, {
    onObjectBegin: () => {
      open.push(new Set())
    },
    onObjectProperty: (name, _offset, _length, line) => {
      const names = open.at(-1)
      const problem = name === '__proto__' ? 'has no meaning' : names?.has(name) === true ? 'is given twice' : undefined
      if (problem !== undefined) throw new Error(`the name "${name}" ${problem} (line ${String(line + 1)})`)
      names?.add(name)
    },
    onObjectEnd: () => {
      open.pop()
    },
  })
}

/** Keys and indexes. */
export type JsonPath = readonly (string | number)[]

/** The text with another value at a place. Everything else stays as it is. Undefined: the value is removed. */
export const withJsonValue = (
  text: string,
  at: JsonPath,
  value: unknown,
  options: { readonly isArrayInsertion?: boolean } = {},
): string =>
  applyEdits(text, modify(text, [...at], value, { formattingOptions: { insertSpaces: true, tabSize: 2 }, ...options }))

/** Undefined if a part of the way is missing. */
export const valueAt = (value: unknown, at: JsonPath): unknown =>
  at.reduce<unknown>((current, key) => {
    const inside: object = isMapping(current) || Array.isArray(current) ? current : {}
    return Object.hasOwn(inside, key) ? inside[key as keyof typeof inside] : undefined
  }, value)
