// Commands of tools from a file. In their words {name} stands for a value of the input. A value always stays within one
// word. A list that is alone in its word becomes one word for each item.
import type { JsonValue } from 'cordon/gate'
import { toolFailed } from 'cordon/runtime'
import { isMapping } from 'cordon/shapes'

export interface CommandTemplate {
  readonly words: readonly string[]
  /** The template of its standard input. */
  readonly stdin: string | undefined
}

const PLACE = /\{\{|\}\}|\{(?<name>[A-Za-z_][A-Za-z0-9_]*)\}/g
const ALONE = /^\{(?<name>[A-Za-z_][A-Za-z0-9_]*)\}$/

export const wordsOf = (tool: string, template: readonly string[], input: JsonValue): readonly string[] =>
  template.flatMap((word) => expand(tool, word, input))

const expand = (tool: string, word: string, input: JsonValue): readonly string[] => {
  const name = ALONE.exec(word)?.groups?.['name']
  const value = name === undefined ? undefined : valueOf(input, name)
  if (name !== undefined && Array.isArray(value)) return value.map((item: JsonValue) => textOf(tool, name, item))
  return [filledIn(tool, word, input)]
}

/** `{{` and `}}` are the braces themselves. */
export const filledIn = (tool: string, text: string, input: JsonValue): string =>
  text.replace(PLACE, (found: string, name: string | undefined) =>
    name === undefined ? found.slice(1) : textOf(tool, name, valueOf(input, name)),
  )

const valueOf = (input: JsonValue, name: string): JsonValue | undefined =>
  isMapping(input) && Object.hasOwn(input, name) ? (input as Readonly<Record<string, JsonValue>>)[name] : undefined

const textOf = (tool: string, name: string, value: JsonValue | undefined): string => {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw toolFailed(tool, `its command needs "${name}" in the input, as a text, a number or a boolean`, null)
}
