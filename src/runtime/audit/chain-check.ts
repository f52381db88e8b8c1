// Judges lines one after the other. After a finding it goes on from what the line itself says, so that
// one change is one finding and not one for every line that follows.
import { CHAIN_BEGIN, readLine } from './chain.js'
import type { ChainEnd } from './chain.js'
import type { LogLine } from './log-reader.js'

export const PROBLEMS = [
  'edited',
  'unreadable',
  'torn',
  'missing',
  'reordered',
  'unchained',
  'truncated',
  'replaced',
  'unanchored',
  'removed',
  'no-anchor',
  'bad-anchor',
] as const

export interface AuditProblem {
  readonly kind: (typeof PROBLEMS)[number]
  /** Null where it is about the log as a whole. */
  readonly file: string | null
  readonly line: number | null
  readonly sequence: number | null
  readonly message: string
}

export interface ChainCheck {
  readonly take: (line: LogLine) => void
  /** What follows the last whole line, if anything does. */
  readonly takeRest: (bytes: number) => void
  readonly end: () => ChainEnd
  readonly lines: () => number
  readonly problems: () => readonly AuditProblem[]
  readonly notes: () => readonly string[]
}

const MAX_PROBLEMS = 200

/** `known` is a line of which the hash is known from elsewhere. */
export const createChainCheck = (known: ChainEnd | undefined): ChainCheck => {
  const problems: AuditProblem[] = []
  const notes: string[] = []
  let lines = 0
  let last: LogLine | undefined
  /** Without a hash after a line that could not be read. */
  let end: { readonly sequence: number; readonly hash: string | undefined } = CHAIN_BEGIN

  const report = (kind: AuditProblem['kind'], at: LogLine, sequence: number | null, message: string): void => {
    if (problems.length < MAX_PROBLEMS) problems.push({ kind, file: at.file, line: at.number, sequence, message })
  }

  return {
    take: (at) => {
      lines += 1
      last = at
      const expected = end.sequence + 1
      const read = readLine(at.text)
      if (read.kind === 'unreadable') {
        report('unreadable', at, expected, `line ${String(at.number)} cannot be read: ${read.problem}`)
        end = { sequence: expected, hash: undefined }
        return
      }
      const { sequence, previous, hash, event } = read.line
      if (!read.isIntact)
        report('edited', at, sequence, `line ${String(at.number)} was changed: its content does not fit its hash`)
      if (sequence > expected) {
        report(
          'missing',
          at,
          sequence,
          `before line ${String(at.number)}, ` +
            `${sequence - expected === 1 ? `the entry ${String(expected)} is` : `the entries ${String(expected)} to ${String(sequence - 1)} are`} missing`,
        )
      } else if (sequence < expected) {
        report(
          'reordered',
          at,
          sequence,
          `line ${String(at.number)} is out of order: entry ${String(sequence)} after entry ${String(end.sequence)}`,
        )
      } else if (end.hash !== undefined && previous !== end.hash) {
        report(
          'unchained',
          at,
          sequence,
          `line ${String(at.number)} does not follow the line before it: that one was replaced`,
        )
      }
      if (known?.sequence === sequence && known.hash !== hash)
        report(
          'replaced',
          at,
          sequence,
          `line ${String(at.number)} is not the entry ${String(sequence)} that the anchor knows: the log was ` +
            'replaced or written anew',
        )
      if (event.type === 'audit.repaired') notes.push(`${at.file}:${String(at.number)}: ${describeRepair(event)}`)
      end = { sequence, hash }
    },
    takeRest: (bytes) => {
      if (bytes === 0) return
      const at = { file: last?.file ?? '', number: (last?.number ?? 0) + 1, text: '' }
      report(
        'torn',
        at,
        end.sequence + 1,
        `line ${String(at.number)} was not finished: ${String(bytes)} bytes without an end; a writer that ` +
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
}: {
  readonly adopted_lines: number
  readonly torn_bytes: number
  readonly torn_file: string | null
  readonly lost_lines: number
}): string =>
  [
    'repaired after a writer was killed or the machine stopped:',
    [
      ...(adopted === 0 ? [] : [`${String(adopted)} lines that the anchor did not know of were kept`]),
      ...(torn === 0 ? [] : [`${String(torn)} bytes of an unfinished line were put into ${aside ?? 'a file'}`]),
      ...(lost === 0 ? [] : [`${String(lost)} lines that were not on the disk yet are lost`]),
    ].join(', '),
  ].join(' ')
