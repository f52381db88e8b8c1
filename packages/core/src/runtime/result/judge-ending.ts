import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { describeViolation, isHabit, isIntrusion } from '../../sandbox/index.js'
import type { CallRecord, Ending, Violation } from '../../sandbox/index.js'

import { adviceFor } from './agent-words.js'
import type { Execution } from './tool-result.js'

/** `succeeded`: according to the tool. `failure`: the error if it failed by itself. `command`: of a process tool. */
interface Ended {
  readonly succeeded: boolean
  readonly failure: () => CordonError
  readonly command: readonly string[]
  /** The error that a function threw. */
  readonly cause?: unknown
  /** The lines of a policy that would allow what was refused. */
  readonly fix: (violations: readonly Violation[]) => string
}

/**
 * Whether a call succeeded, failed by itself, or met its boundary. Files that programs look for by habit do not make a
 * failure a violation.
 */
export const judgeEnding = (
  tool: string,
  result: Ending & Pick<CallRecord, 'violations'>,
  { succeeded, failure, command, fix, cause }: Ended,
): Pick<Execution, 'status' | 'error'> => {
  if (result.status === 'limit' && result.limit === 'wall')
    return { status: 'timeout', error: fail('tool-timed-out', { tool }) }
  if (succeeded && !result.violations.some(isIntrusion)) return { status: 'ok', error: undefined }
  const met = result.violations.filter((violation) => !isHabit(violation, command))
  return met.length > 0
    ? { status: 'violated', error: violated(tool, met, fix(met), cause) }
    : { status: 'failed', error: failure() }
}

const MOST_TOLD = 5

const violated = (tool: string, violations: readonly Violation[], fix: string, cause: unknown): CordonError => {
  const described = violations.slice(0, MOST_TOLD).map(describeViolation).join('; ')
  return fail('tool-violated', { tool, violations: described, told: adviceFor(violations), fix }, cause)
}
