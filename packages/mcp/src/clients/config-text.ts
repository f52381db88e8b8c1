import { parseJson, withJsonValue } from 'cordon/commands'

/** Fields of an entry. Undefined: the field is removed. */
export type EntryFields = Readonly<Record<string, unknown>>

/** How a format is read and changed. */
export interface ConfigText {
  readonly parse: (text: string) => unknown
  /** The text with other fields of the entry at a place. Everything else stays as it is. */
  readonly withFields: (text: string, place: readonly string[], fields: EntryFields) => string
}

export const jsonText: ConfigText = {
  parse: parseJson,
  withFields: (text, place, fields) =>
    Object.entries(fields).reduce((current, [key, value]) => withJsonValue(current, [...place, key], value), text),
}
