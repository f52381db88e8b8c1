// Checks the lines of a log one after the other. After a problem it continues with the values of that line, so that one
// change is one problem.
import { CHAIN_BEGIN, readLine } from './chain.js'
import type { ChainEnd } from './chain.js'
import type { EventOf } from '../events/event.js'
import type { LogLine } from './log-reader.js'

export interface AuditProblem {
  readonly kind:
    | 'edited'
    | 'unreadable'
    | 'torn'
    | 'missing'
    | 'reordered'
    | 'unchained'
    | 'truncated'
    | 'replaced'
    | 'unanchored'
    | 'removed'
    | 'no-anchor'
    | 'bad-anchor'
    | 'linked'
  /** Null for a problem of the whole log. */
  readonly file: string | null
  readonly line: number | null
  readonly sequence: number | null
  readonly message: string
}

export interface ChainCheck {
  readonly take: (line: LogLine) => void
  /** Takes the number of bytes after the last whole line. */
  readonly takeRest: (bytes: number) => void
  readonly end: () => ChainEnd
  readonly lines: () => number
  readonly problems: () => readonly AuditProblem[]
  readonly notes: () => readonly string[]
}

const MAX_PROBLEMS = 200

/** `known`: the line that the anchor knows. */
export const createChainCheck = (known: ChainEnd | undefined): ChainCheck => {
  const problems: AuditProblem[] = []
  const notes: string[] = []
  let lines = 0
  let last: Pick<LogLine, 'file' | 'number'> = { file: '', number: 0 }
  /** After an unreadable line there is no hash. */
  let end: { readonly sequence: number; readonly hash: string | undefined } = CHAIN_BEGIN

  const report = (kind: AuditProblem['kind'], sequence: number, message: string): void => {
    if (problems.length < MAX_PROBLEMS) problems.push({ kind, file: last.file, line: last.number, sequence, message })
  }

  return {
    take: (at) => {
      lines += 1
      last = at
      const expected = end.sequence + 1
      const line = `line ${at.number}`
      const read = readLine(at.text)
      if (read.kind === 'unreadable') {
        report('unreadable', expected, `${line} cannot be read: ${read.problem}`)
        end = { sequence: expected, hash: undefined }
        return
      }
      const { sequence, previous, hash, event } = read.line
      if (!read.isIntact) report('edited', sequence, `${line} was changed: its content does not fit its hash`)
      if (sequence > expected) {
        const missing =
          sequence - expected === 1 ? `entry ${expected} is` : `entries ${expected} to ${sequence - 1} are`
        report('missing', sequence, `before ${line}, the ${missing} missing`)
      } else if (sequence < expected)
        report('reordered', sequence, `${line} is out of order: entry ${sequence} after entry ${end.sequence}`)
      else if (end.hash !== undefined && previous !== end.hash)
        report('unchained', sequence, `${line} does not follow the line before it: that one was replaced`)
      if (known?.sequence === sequence && known.hash !== hash)
        report(
          'replaced',
          sequence,
          `${line} is not the entry ${sequence} that the anchor knows: the log was replaced or written anew`,
        )
      if (event.type === 'audit.repaired') notes.push(`${at.file}:${at.number}: ${describeRepair(event)}`)
      end = { sequence, hash }
    },
    takeRest: (bytes) => {
      if (bytes === 0) return
      last = { file: last.file, number: last.number + 1 }
      report(
        'torn',
        end.sequence + 1,
        `line ${last.number} was not finished: ${bytes} bytes without an end; a writer that ` +
          'was killed leaves this, and the next one repairs and records it',
      )
    },
    end: () => ({ sequence: end.sequence, hash: end.hash ?? '' }),
    lines: () => lines,
    problems: () => problems,
    notes: () => notes,
  }
}

const describeRepair = ({
  adopted_lines: adopted,
  torn_bytes: torn,
  torn_file: aside,
  lost_lines: lost,
}: EventOf<'audit.repaired'>): string => {
  const repairs = [
    ...(adopted === 0 ? [] : [`${adopted} lines that the anchor did not know of were kept`]),
    ...(torn === 0 ? [] : [`${torn} bytes of an unfinished line were put into ${aside ?? 'a file'}`]),
    ...(lost === 0 ? [] : [`${lost} lines that were not on the disk yet are lost`]),
  ]
  return `repaired after a writer was killed or the machine stopped: ${repairs.join(', ')}`
}
