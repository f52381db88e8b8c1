// A call as a model gives it: by a name for models, with arguments that may be text.
import { readBoundedJson } from '../../gate/index.js'

export interface ModelCall {
  /** A name of `listTools()`: `name` or `modelName`. */
  readonly name: string
  /** A value, or the JSON text of one. An empty text is an empty object: some providers send that. */
  readonly arguments?: unknown
}

const ARGUMENT_LIMITS = { bytes: 16 << 20, elements: 200_000, depth: 128 }

export const readModelInput = (given: unknown): { readonly input: unknown; readonly inputProblem?: string } => {
  if (given === undefined || given === '') return { input: {} }
  if (typeof given !== 'string') return { input: given }
  const parsed = readBoundedJson(Buffer.from(given), ARGUMENT_LIMITS, 'unique')
  return parsed.kind === 'json' ? { input: parsed.value } : { input: null, inputProblem: parsed.problem }
}
