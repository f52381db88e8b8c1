// Limits of a tool's result. It is parsed, hashed and recorded in the event loop of the host, which all calls share.
// Within these limits that takes some tens of milliseconds at most.
import type { JsonLimits } from '../../gate/index.js'
import { DEFAULT_OUTPUT_BYTES } from '../../policy/index.js'

/** Limits that a tool can raise. */
export interface ResultLimits {
  /** Of its result as JSON, in UTF-8. */
  readonly bytes?: number
  /** Values and keys of its result together. */
  readonly elements?: number
}

/** The same as for arguments. */
const DEPTH = 128

export const RESULT_DEFAULTS = { bytes: 1024 * 1024, elements: 20_000 } as const

/** For each message of progress. */
export const PROGRESS_LIMITS: JsonLimits = { bytes: 64 * 1024, elements: 2_000, depth: DEPTH }

export const resultLimitsOf = ({
  bytes = RESULT_DEFAULTS.bytes,
  elements = RESULT_DEFAULTS.elements,
}: ResultLimits = {}): JsonLimits => ({ bytes, elements, depth: DEPTH })

/** Room for the whole result and other output. The output of a function also carries its progress and its text. */
export const outputLimitOf = ({ bytes = RESULT_DEFAULTS.bytes }: ResultLimits = {}): number =>
  Math.max(DEFAULT_OUTPUT_BYTES, 2 * bytes)
