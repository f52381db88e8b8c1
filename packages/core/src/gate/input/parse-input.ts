import type { StandardSchema } from './parameter-marks.js'

export type ParsedInput =
  { readonly kind: 'input'; readonly value: unknown } | { readonly kind: 'problem'; readonly problem: string }

/** Reads the input of a call by the schema of the tool. The result is what runs. */
export type ParseInput = (value: unknown) => ParsedInput | Promise<ParsedInput>

/** For tools without a schema. */
export const acceptAnyInput: ParseInput = (value) => ({ kind: 'input', value })

const MAX_ISSUES = 5

export const parserOf =
  (schema: StandardSchema): ParseInput =>
  (value) => {
    const result = schema['~standard'].validate(value)
    return result instanceof Promise ? result.then(read) : read(result)
  }

const read = (result: Awaited<ReturnType<StandardSchema['~standard']['validate']>>): ParsedInput => {
  if (result.issues === undefined) return { kind: 'input', value: result.value }
  const issues = result.issues.slice(0, MAX_ISSUES).map(({ message, path }) => {
    const keys = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))
    return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
  })
  return { kind: 'problem', problem: issues.join('; ') }
}
