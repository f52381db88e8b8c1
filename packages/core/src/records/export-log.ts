// `cordon log export`: writes entries for other systems, and remembers its position in a file.
import { readFileSync } from 'node:fs'

import { codeOf, fail, messageOf } from '../errors/index.js'
import { replaceFile } from '../platform/index.js'
import { createLogReader, readLine } from '../runtime/index.js'
import type { LogLine } from '../runtime/index.js'

import { STDERR, STDOUT, oneLine, writeFully, writeText } from '../line/text/console-text.js'
import type { EventFilter } from './call-events.js'
import { fromLogLine, renderExported } from './export-formats.js'
import type { ExportFormat, ExportedEntry } from './export-formats.js'

export interface ExportSettings {
  readonly format: ExportFormat
  /** The file with the position of the last export. */
  readonly cursor: string | undefined
}

const EXIT_TAMPERED = 1

/** Returns the exit status. */
export const exportLog = async (
  path: string,
  { format, cursor }: ExportSettings,
  filter: EventFilter,
): Promise<number> => {
  const known = readCursor(cursor, isLogMark)
  const reader = createLogReader(path)
  let end = known
  let isIntact = true
  for await (const line of reader.lines()) {
    const read = readLine(line.text)
    if (read.kind === 'unreadable' || !read.isIntact) {
      isIntact = false
      warnOfChange(line)
    }
    if (read.kind === 'unreadable') continue
    const { sequence, hash, event } = read.line
    if (known !== undefined && sequence <= known.sequence) {
      if (sequence === known.sequence && hash !== known.hash)
        throw fail('file-unreadable', {
          path,
          problem: `line ${String(sequence)} has changed since ${cursor ?? ''} was written`,
          fix: 'see what changed: cordon log verify; to export everything again, remove the file of --cursor',
        })
      continue
    }
    if (filter(event) && !writeExported(fromLogLine(read.line, line.text), format)) {
      await reader.close()
      return reportBrokenPipe()
    }
    end = { sequence, hash }
  }
  await reader.close()
  if (end !== undefined) keepCursor(cursor, end)
  return isIntact ? 0 : EXIT_TAMPERED
}

export const warnOfChange = ({ file, number }: LogLine): void => {
  writeText(STDERR, `cordon: ${oneLine(file)}:${String(number)} was changed; see: cordon log verify\n`)
}

const EXIT_BROKEN_OFF = 1

/** It is not known which entries the reader of a pipe has read, so the next export repeats them all. */
export const reportBrokenPipe = (): number => {
  writeText(
    STDERR,
    'cordon: the reader closed the pipe before the export was complete; the mark of --cursor was not moved\n',
  )
  return EXIT_BROKEN_OFF
}

export const writeExported = (exported: ExportedEntry, format: ExportFormat): boolean =>
  writeFully(STDOUT, Buffer.from(`${renderExported(exported, format)}\n`))

interface LogMark {
  readonly sequence: number
  readonly hash: string
}

const isLogMark = (value: object): value is LogMark =>
  'sequence' in value && Number.isSafeInteger(value.sequence) && 'hash' in value && typeof value.hash === 'string'

export const readCursor = <Mark>(
  path: string | undefined,
  isMark: (value: object) => value is Mark & object,
): Mark | undefined => {
  if (path === undefined) return undefined
  const invalid = (problem: string) =>
    fail('file-unreadable', {
      path,
      problem,
      fix: 'name the file of an earlier export of the same log, or a new file',
    })
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw invalid(messageOf(error))
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid('it is not valid JSON')
  }
  if (typeof value !== 'object' || value === null || !isMark(value))
    throw invalid('it is not a position in this kind of log')
  return value
}

/** An interrupted export keeps the old position. */
export const keepCursor = (path: string | undefined, mark: object): void => {
  if (path !== undefined) replaceFile(path, `${JSON.stringify(mark)}\n`, { mode: 0o600 })
}
