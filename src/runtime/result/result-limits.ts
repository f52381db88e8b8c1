// How much a tool may answer. What it says is parsed, hashed, recorded and passed on in the event loop of the host,
// which all calls share: at these limits no answer holds it for more than some tens of milliseconds.
import type { JsonLimits } from '../../gate/index.js'

/** What a tool may raise for itself. */
export interface ResultLimits {
  /** Of its result as JSON, in UTF-8. */
  readonly bytes?: number
  /** Values and keys of its result together. */
  readonly elements?: number
}

/** As deep as arguments may be; nobody needs more. */
const DEPTH = 128

export const RESULT_DEFAULTS = { bytes: 1024 * 1024, elements: 20_000 } as const

/** Every message of progress is bounded by itself. */
export const PROGRESS_LIMITS: JsonLimits = { bytes: 64 * 1024, elements: 2_000, depth: DEPTH }

/**
 * What a process may write where its policy has no `limits.output`. A function also prints and tells its progress
 * there.
 */
const OUTPUT_BYTES = 4 * 1024 * 1024

export const resultLimitsOf = ({
  bytes = RESULT_DEFAULTS.bytes,
  elements = RESULT_DEFAULTS.elements,
}: ResultLimits = {}): JsonLimits => ({ bytes, elements, depth: DEPTH })

/** The whole result has to get through, with what is said beside it. */
export const outputLimitOf = ({ bytes = RESULT_DEFAULTS.bytes }: ResultLimits = {}): number =>
  Math.max(OUTPUT_BYTES, 2 * bytes)
