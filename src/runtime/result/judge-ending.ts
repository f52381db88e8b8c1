import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { describeViolation, isHabit, isIntrusion } from '../../sandbox/index.js'
import type { CallResult, Violation } from '../../sandbox/index.js'

import { adviceFor } from './agent-words.js'
import type { Execution } from './tool-result.js'

/** `succeeded`: by its own words. `failure`: how it failed by itself. `command`: of a process tool, its words. */
interface Ended {
  readonly succeeded: boolean
  readonly failure: () => CordonError
  readonly command: readonly string[]
  /** The lines of a policy that would let it do what was refused. */
  readonly fix: (violations: readonly Violation[]) => string
}

/**
 * Whether a call was a success, failed by itself, or met its boundary. A violation is never told as a plain failure,
 * and what programs look for by habit is no reason for one.
 */
export const judgeEnding = (
  tool: string,
  result: CallResult,
  { succeeded, failure, command, fix }: Ended,
): Pick<Execution, 'status' | 'error'> => {
  if (result.status === 'limit' && result.limit === 'wall')
    return { status: 'timeout', error: fail('tool-timed-out', { tool }) }
  if (succeeded && !result.violations.some(isIntrusion)) return { status: 'ok', error: undefined }
  const met = result.violations.filter((violation) => !isHabit(violation, command))
  return met.length > 0
    ? { status: 'violated', error: violated(tool, met, fix(met)) }
    : { status: 'failed', error: failure() }
}

const MOST_TOLD = 5

const violated = (tool: string, violations: readonly Violation[], fix: string): CordonError =>
  fail('tool-violated', {
    tool,
    violations: violations.slice(0, MOST_TOLD).map(describeViolation).join('; '),
    told: adviceFor(violations),
    fix,
  })
