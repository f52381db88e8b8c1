// Says in words what is wrong with a file in JSON.
import { printParseErrorCode } from 'jsonc-parser'
import type { ParseError } from 'jsonc-parser'

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

export const jsonProblem = ({ error }: Pick<ParseError, 'error'>): string =>
  WORDS[printParseErrorCode(error)] ?? 'it is malformed'

/** Of a place in a text, counted from 1. */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length
