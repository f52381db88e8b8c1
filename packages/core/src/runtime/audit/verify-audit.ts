import { PLATFORM } from '../../platform/index.js'

import type { EventOf } from '../events/event.js'
import { readAnchorAt } from './anchor.js'
import type { Anchor, ReadAnchor } from './anchor.js'
import { anchorOf, fullFile, statOf } from './audit-files.js'
import { CHAIN_BEGIN, readLine } from './chain.js'
import type { ChainEnd } from './chain.js'
import { createLogReader } from './log-reader.js'
import type { LogLine } from './log-reader.js'

export interface AuditReport {
  readonly isIntact: boolean
  readonly files: readonly string[]
  readonly lines: number
  readonly end: ChainEnd
  /** The end of the log according to the anchor. */
  readonly anchor: ChainEnd | null
  readonly problems: readonly AuditProblem[]
  /** Remarks that are no problems. */
  readonly notes: readonly string[]
}

const MAX_LOOKS = 5
const BETWEEN_LOOKS = 50

/** Checks that nobody changed a log. If it is written meanwhile, a problem is checked again. */
export const verifyAudit = async (
  path: string,
  { anchorPath = anchorOf(path) }: { readonly anchorPath?: string } = {},
): Promise<AuditReport> => {
  for (let look = 1; ; look += 1) {
    const before = readAnchorAt(anchorPath)
    const report = await verifyOnce(path, anchorPath, before)
    const hasMoved = before?.anchor?.revision !== readAnchorAt(anchorPath)?.anchor?.revision
    if (report.isIntact || !hasMoved || look === MAX_LOOKS) return report
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS))
  }
}

const verifyOnce = async (path: string, anchorPath: string, before: ReadAnchor | undefined): Promise<AuditReport> => {
  const known = before?.anchor
  const check = createChainCheck(known)
  const problems: AuditProblem[] = []
  const overall = (kind: AuditProblem['kind'], sequence: number | null, message: string): void => {
    problems.push({ kind, file: null, line: null, sequence, message })
  }
  const reader = createLogReader(path)
  let isLive = false
  try {
    for await (const line of reader.lines()) {
      check.take(line)
      // A writer may be faster than this reader. Lines after the first look are left for the next one.
      if (known !== undefined && check.end().sequence === known.sequence)
        isLive = (readAnchorAt(anchorPath)?.anchor?.sequence ?? 0) > known.sequence
      if (isLive) break
    }
    if (!isLive) check.takeRest(reader.unfinished())
  } finally {
    await reader.close()
  }
  for (const number of reader.missing()) overall('removed', null, `the file ${fullFile(path, number)} is missing`)
  if (statOf(path) === undefined && (known?.sequence ?? 1) > 0) overall('removed', null, `there is no file ${path}`)
  for (const file of [path, anchorPath]) {
    const linked = linkProblem(file)
    // No writer of Cordon takes such a file.
    if (linked !== undefined) overall('linked', null, `${file} ${linked}`)
  }
  const end = check.end()
  if (before === undefined)
    overall('no-anchor', null, `there is no anchor ${anchorPath}: how far the log went cannot be told`)
  else if (known === undefined)
    overall('bad-anchor', null, `the anchor ${anchorPath} cannot be read: how far the log went cannot be told`)
  else if (end.sequence < known.sequence) overall('truncated', end.sequence, describeCut(end, known))
  // The anchor by now knows the lines that were written meanwhile.
  const now = readAnchorAt(anchorPath)?.anchor
  if (!isLive && now !== undefined && end.sequence > now.sequence) {
    overall(
      'unanchored',
      end.sequence,
      `the anchor does not know of the entries ${now.sequence + 1} to ${end.sequence}: a ` +
        'writer was killed just then (the next one records it), or somebody else wrote them',
    )
  }
  const all = [...check.problems, ...problems]
  return {
    isIntact: all.length === 0,
    files: reader.files(),
    lines: check.lines(),
    end,
    anchor: known === undefined ? null : { sequence: known.sequence, hash: known.hash },
    problems: all,
    notes: [
      ...check.notes,
      ...((before?.damaged ?? 0) > 0 && known !== undefined
        ? ['one of the two slots of the anchor is damaged; the other one is used']
        : []),
    ],
  }
}

/** Whoever made the other name, or the link, could change or exchange the file through it. */
const linkProblem = (file: string): string | undefined => {
  const stats = statOf(file)
  if (stats?.isSymbolicLink() === true) return 'is a link'
  return (stats?.nlink ?? 1) > 1 ? 'has a second name (a hard link), through which it could be changed' : undefined
}

const describeCut = (end: ChainEnd, { sequence, boot, synced }: Anchor): string => {
  const cut =
    `the log ends with entry ${end.sequence}, and the anchor knows of ${sequence}: its end was ` +
    'cut off, or it was replaced by an older one'
  const isPowerCut = boot !== '' && boot !== PLATFORM.bootId() && end.sequence >= synced
  return isPowerCut
    ? `${cut}; or lost: the machine was started anew since, and these entries were not on the disk for certain`
    : cut
}

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

const MAX_PROBLEMS = 200

/**
 * Checks the lines of a log one after the other. After a problem it continues with the values of that line, so that one
 * change is one problem. `known`: the line that the anchor knows.
 */
const createChainCheck = (known: ChainEnd | undefined) => {
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
    problems,
    notes,
    take: (at: LogLine): void => {
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
    /** Takes the number of bytes after the last whole line. */
    takeRest: (bytes: number): void => {
      if (bytes === 0) return
      last = { file: last.file, number: last.number + 1 }
      report(
        'torn',
        end.sequence + 1,
        `line ${last.number} was not finished: ${bytes} bytes without an end; a writer that ` +
          'was killed leaves this, and the next one repairs and records it',
      )
    },
    end: (): ChainEnd => ({ sequence: end.sequence, hash: end.hash ?? '' }),
    lines: () => lines,
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
