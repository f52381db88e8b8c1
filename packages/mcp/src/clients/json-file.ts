// A client's file in JSON, with comments and trailing commas as several clients allow. Changes keep both.
import { applyEdits, modify, parse } from 'jsonc-parser'
import type { ParseError } from 'jsonc-parser'

import { jsonProblem, lineAt } from 'cordon/commands'
import type { ConfigText } from './config-text.js'

const FORM = { formattingOptions: { insertSpaces: true, tabSize: 2 } }

export const jsonText: ConfigText = {
  parse: (text) => {
    const errors: ParseError[] = []
    const value = parse(text, errors, { allowTrailingComma: true }) as unknown
    const [first] = errors
    if (first !== undefined) throw new Error(`${jsonProblem(first)} in line ${String(lineAt(text, first.offset))}`)
    return value
  },
  withFields: (text, place, fields) =>
    Object.entries(fields).reduce(
      (current, [key, value]) => applyEdits(current, modify(current, [...place, key], value, FORM)),
      text,
    ),
}
