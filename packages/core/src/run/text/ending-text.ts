// How a call ended, in words.
import type { CordonEvent } from '../../runtime/index.js'

type Terminated = Extract<CordonEvent, { type: 'process.terminated' }>

/** Why a process was killed, as the end of a sentence. */
export const whyTerminated = ({ because, limit, signal }: Terminated): string => {
  const number = signal === null ? '' : ` (signal ${String(signal)})`
  switch (because) {
    case 'limit':
      return `it reached the ${limit ?? 'unknown'} limit${number}`
    case 'violation':
      return `it changed something protected, and Cordon killed it${number}`
    case 'signal':
      return `it was killed by ${signal === null ? 'a signal' : `signal ${String(signal)}`}`
    case 'cancelled':
      return 'its caller cancelled it'
    case 'setup':
      return 'it could not be started'
    default:
      // An event of another version.
      return String(because satisfies never)
  }
}

/** How a call ended, in one line. The last run counts. */
export const whyCallEnded = (events: readonly CordonEvent[]): string => {
  const denied = events.findLast((event) => event.type === 'tool.denied')
  const process = events.findLast((event) => event.type === 'process.completed' || event.type === 'process.terminated')
  const completed = events.findLast((event) => event.type === 'tool.completed')
  const reason = completed === undefined || completed.reason === null ? '' : `: ${completed.reason}`
  if (process?.type === 'process.terminated')
    return `ended because ${whyTerminated(process)}${process.because === 'setup' ? reason : ''}`
  if (process !== undefined)
    return (
      'ended because it exited with ' +
      `${String(process.exit_code)}${completed === undefined ? '' : `, which counts as ${completed.status}`}`
    )
  if (completed?.status === 'not_started') return `did not begin${reason}`
  if (completed !== undefined) return `ended because its function ended, which counts as ${completed.status}${reason}`
  if (denied !== undefined) return `ended because it was not allowed: ${denied.reason}`
  return 'has no end in the log: it is still running, or its process was killed'
}
