// A log in its own folder, and events to fill it with.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll } from 'vitest'

import { openAuditLog } from '../../src/runtime/index.js'
import type { AuditLog, AuditSettings, CordonEvent } from '../../src/runtime/index.js'

const folders: string[] = []

/** Gone after the tests of the file; not in /tmp, because a cell has one of its own. */
export const auditFolder = (): string => {
  const folder = realpathSync(mkdtempSync('/var/tmp/cordon-audit-'))
  folders.push(folder)
  return folder
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export const anEvent = (text: string, sequence = 1): CordonEvent => ({
  type: 'session.ended',
  event_id: `event-${text}`,
  timestamp: '2026-01-01T00:00:00.000Z',
  sequence,
  session_id: 'session',
  call_id: null,
  reason: text,
  calls: 0,
})

/** A log with one line of its own and `count` others, closed. */
export const writtenLog = async (count: number, settings: Partial<AuditSettings> = {}): Promise<string> => {
  const path = settings.path ?? join(auditFolder(), 'audit.jsonl')
  const log = await openAuditLog({ ...settings, path })
  for (let index = 1; index <= count; index += 1) await log.append([anEvent(String(index), index)])
  await log.close()
  return path
}

export const withLog = async <Value>(
  settings: AuditSettings,
  body: (log: AuditLog) => Promise<Value>,
): Promise<Value> => {
  const log = await openAuditLog(settings)
  try {
    return await body(log)
  } finally {
    await log.close()
  }
}

export const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1)

export const writeLines = (path: string, lines: readonly string[]): void => {
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
}

export const reasonsIn = (path: string): readonly string[] =>
  linesOf(path).flatMap((line) => {
    const { event } = JSON.parse(line) as { event: { type: string; reason?: string } }
    return event.type === 'session.ended' ? [event.reason ?? ''] : []
  })

const BUILT = fileURLToPath(new URL('../../dist/runtime/index.js', import.meta.url))

export interface OtherProcess {
  readonly pid: number
  /** Answers when it has printed something. */
  readonly speaks: Promise<void>
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null; readonly output: string }>
  readonly kill: () => void
}

/** Runs a program of another process; `runtime` is what the room exports, `words` what is given here. */
export const otherProcess = (body: string, words: readonly string[], prefix: readonly string[] = []): OtherProcess => {
  const program = `import * as runtime from ${JSON.stringify(BUILT)};\nconst words = process.argv.slice(1);\n${body}`
  const [command = '', ...args] = [...prefix, process.execPath, '--input-type=module', '-e', program, ...words]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 200_000 })
  let output = ''
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()))
  return {
    pid: child.pid ?? 0,
    speaks: new Promise((resolve) =>
      child.stdout.once('data', () => {
        resolve()
      }),
    ),
    ended: new Promise((resolve) =>
      child.on('close', (code, signal) => {
        resolve({ code, signal, output })
      }),
    ),
    kill: () => {
      child.kill('SIGKILL')
    },
  }
}

export const AN_EVENT =
  `const anEvent = (text, sequence = 1) => ({ type: 'session.ended', event_id: 'e', timestamp: new ` +
  `Date().toISOString(), sequence, session_id: 's', call_id: null, reason: text, calls: 0 });`
