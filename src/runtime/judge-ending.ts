import { fail } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'
import { describeViolation, isIntrusion } from '../sandbox/index.js'
import type { CallResult, Violation } from '../sandbox/index.js'

import type { Execution } from './tool-result.js'

/** Whether a call was a success, failed by itself, or was stopped. A violation is never told as a plain failure. */
export const judgeEnding = (tool: string, result: CallResult, succeeded: boolean, words: string): Pick<Execution, 'status' | 'error'> => {
  if (result.status === 'limit' && result.limit === 'wall') return { status: 'timeout', error: fail('tool-timed-out', { tool }) }
  const intruded = result.violations.some(isIntrusion)
  if (succeeded && !intruded) return { status: 'ok', error: undefined }
  if (result.violations.length > 0) return { status: 'violated', error: violated(tool, result.violations) }
  const problem = result.status === 'exited' ? `exit status ${String(result.exitCode)}${words}` : `killed by signal ${String(result.signal)}${words}`
  return { status: 'failed', error: fail('tool-failed', { tool, problem }) }
}

const MOST_TOLD = 5

export const violated = (tool: string, violations: readonly Violation[]): CordonError =>
  fail('tool-violated', { tool, violations: violations.slice(0, MOST_TOLD).map(describeViolation).join('; ') })
