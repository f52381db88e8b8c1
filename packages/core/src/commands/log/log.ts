// `cordon log`: shows, follows, verifies, exports and prunes the audit log.
import { existsSync, watch } from 'node:fs'
import { homedir } from 'node:os'
import { dirname } from 'node:path'

import { fail } from '../../errors/index.js'
import { nearestKey } from '../../policy/index.js'
import { EVENT_TYPES, anchorOf, createLogReader, listFullFiles, readLine, verifyAudit } from '../../runtime/index.js'
import type { AuditReport, CordonEvent, LogLine } from '../../runtime/index.js'

import { unknownAction, usage } from '../../line/arguments.js'
import type { Arguments } from '../../line/arguments.js'
import type { CommandLine } from '../../line/caller.js'
import { STDERR, STDOUT, counted, oneLine, paintFor, writeFully, writeText } from '../../line/text/console-text.js'
import type { Paint } from '../../line/text/console-text.js'
import { parseSince } from '../../line/text/time-words.js'
import { auditPathOf } from '../../settings/own-folders.js'
import { EXPORT_FORMATS, eventFilter, exportLog, warnOfChange } from '../../records/index.js'
import type { EventFilter, ExportSettings } from '../../records/index.js'
import { renderEvent } from './log-text.js'

const COMMAND = 'cordon log'
const ACTIONS = ['show', 'follow', 'verify', 'export'] as const
const EXIT_TAMPERED = 1
const EXIT_UNKNOWN = 1

export const log = async ({ given, environment }: CommandLine): Promise<number> => {
  const { switches, values, rest } = given
  const [word, ...files] = rest
  const [file, ...more] = [...files, ...(values.get('log') ?? [])]
  const action = ACTIONS.find((each) => each === word)
  if (action === undefined) throw unknownAction(word, ACTIONS, COMMAND)
  if (more.length > 0) throw usage(`one file at a time: ${more.join(' ')}`, COMMAND)
  const settings = exportSettings(values)
  const path = file ?? auditPathOf(environment, homedir())
  const json = switches.has('json')
  const anchorPath = values.get('anchor')?.[0] ?? anchorOf(path)
  const isThere =
    existsSync(path) || existsSync(anchorPath) || (existsSync(dirname(path)) && listFullFiles(path).length > 0)
  if (!isThere)
    throw fail('file-unreadable', {
      path,
      problem: 'there is no such log',
      fix:
        file === undefined
          ? 'name the file, or set CORDON_AUDIT'
          : 'name the file that Cordon writes: that of CORDON_AUDIT, or of the option audit of createCordon',
    })
  if (action === 'verify')
    return report(await verifyAudit(path, { anchorPath }), path, json, paintFor(STDOUT, environment))
  const filter = filterOf(values)
  if (action === 'export') return exportLog(path, settings, filter)
  const print = printer(json, paintFor(STDOUT, environment))
  const call = values.get('call')?.[0]
  return action === 'show' ? show(path, filter, print, call) : follow(path, filter, print, values.has('since'))
}

const report = (found: AuditReport, path: string, json: boolean, paint: Paint): number => {
  if (json) {
    writeText(STDOUT, `${JSON.stringify(found)}\n`)
  } else {
    for (const { kind, file, line, message } of found.problems)
      writeText(
        STDOUT,
        `${paint('red', kind)} ${oneLine(file === null ? path : `${file}:${String(line)}`)}: ${oneLine(message)}\n`,
      )
    for (const note of found.notes) writeText(STDOUT, `${paint('yellow', 'note')} ${oneLine(note)}\n`)
    const entries = found.lines === 1 ? 'entry' : 'entries'
    const extent = `${String(found.lines)} ${entries} in ${counted(found.files.length, 'file')}`
    writeText(
      STDOUT,
      found.isIntact
        ? `${paint('green', 'intact')} ${oneLine(path)}: ${extent}, up to ${found.end.hash}\n`
        : `${paint('red', 'not intact')} ${oneLine(path)}: ${extent}, ` +
            `${counted(found.problems.length, 'finding')}\n`,
    )
  }
  return found.isIntact ? 0 : EXIT_TAMPERED
}

const filterOf = (values: Arguments['values']): EventFilter =>
  eventFilter({
    call: values.get('call')?.[0],
    types: (values.get('type') ?? []).flatMap(typesOf),
    from: sinceOf(values),
    host: values.get('host')?.[0],
  })

export const sinceOf = (values: Arguments['values']): number | undefined => {
  const since = values.get('since')?.[0]
  if (since === undefined) return undefined
  const time = parseSince(since, Date.now())
  if (time === undefined)
    throw usage(`--since needs a time such as 2026-01-31T12:00, or 30m, 2h, 7d: ${since}`, COMMAND)
  return time
}

export const exportSettings = (values: Arguments['values']): ExportSettings => {
  const [named = 'jsonl'] = values.get('format') ?? []
  const format = EXPORT_FORMATS.find((each) => each === named)
  if (format === undefined)
    throw usage(`there is no format ${named}`, COMMAND, `there are: ${EXPORT_FORMATS.join(', ')}`)
  return { format, cursor: values.get('cursor')?.[0] }
}

const typesOf = (text: string): readonly string[] => {
  const found = EVENT_TYPES.filter((type) => type === text || type.startsWith(`${text}.`))
  if (found.length === 0) throw usage(`there is no event type ${text}`, COMMAND, unknownTypeFix(text))
  return found
}

const unknownTypeFix = (text: string): string => {
  const near = nearestKey(text, EVENT_TYPES)
  return near === undefined ? `there are: ${EVENT_TYPES.join(', ')}` : `did you mean --type ${near}?`
}

/** False when nobody reads the output any more. */
type Print = (line: LogLine, filter: EventFilter) => boolean

const printer =
  (json: boolean, paint: Paint): Print =>
  (line, filter) => {
    const read = readLine(line.text)
    if (read.kind === 'unreadable' || !read.isIntact) warnOfChange(line)
    if (read.kind === 'unreadable' || !filter(read.line.event)) return true
    return writeFully(STDOUT, Buffer.from(`${json ? line.text : textOf(read.line.event, paint)}\n`))
  }

/** An edited line may lack any field. */
const textOf = (event: CordonEvent, paint: Paint): string => {
  try {
    return renderEvent(event, paint)
  } catch {
    return oneLine(JSON.stringify(event))
  }
}

const show = async (path: string, filter: EventFilter, print: Print, call: string | undefined): Promise<number> => {
  const reader = createLogReader(path)
  let found = 0
  const noting: EventFilter = (event) => {
    const passes = filter(event)
    found += passes ? 1 : 0
    return passes
  }
  for await (const line of reader.lines()) if (!print(line, noting)) break
  await reader.close()
  if (found > 0 || call === undefined) return 0
  writeText(
    STDERR,
    `cordon: there is no such entry of a call ${oneLine(call)} in ${oneLine(path)}; see: cordon log show\n`,
  )
  return EXIT_UNKNOWN
}

const POLL_MS = 250

const follow = async (path: string, filter: EventFilter, print: Print, fromThen: boolean): Promise<number> => {
  const reader = createLogReader(path)
  // Without --since existing entries are skipped.
  for await (const line of reader.lines()) if (fromThen && !print(line, filter)) return 0
  const watcher = watch(dirname(path))
  // The kernel does not report changes on network disks, so it also polls.
  let wake = (): void => undefined
  watcher.on('change', () => {
    wake()
  })
  watcher.on('error', () => undefined)
  for (;;) {
    const changed = new Promise<void>((resolve) => {
      wake = resolve
    })
    for await (const line of reader.lines()) {
      if (print(line, filter)) continue
      watcher.close()
      await reader.close()
      return 0
    }
    await Promise.race([changed, new Promise((resolve) => setTimeout(resolve, POLL_MS))])
  }
}
