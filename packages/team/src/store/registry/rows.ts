// Parts that answers of the registry share, and the type of a row.
import { matching, text } from 'cordon/shapes'
import type { Shape, Shaped } from 'cordon/shapes'

type TimeText = string & { readonly brand: 'TimeText' }

/** A row as the database returns it: times are dates there, and texts in JSON. */
type Row<Value> = Value extends TimeText
  ? Date
  : Value extends string | number | boolean
    ? Value
    : Value extends readonly (infer Item)[]
      ? readonly Row<Item>[]
      : Value extends object
        ? { readonly [Key in keyof Value]: Row<Value[Key]> }
        : Value
export type RowOf<Of> = Row<Shaped<Of>>

export const anId = (): Shape<string> => text({ format: 'uuid' })
export const aTime = (): Shape<TimeText> => text({ format: 'date-time' }) as Shape<TimeText>
/** A number with more digits than JSON keeps. */
export const digits = (): Shape<string> => matching(/^\d+$/, 'digits')
