import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { createEventStream, openAuditLog } from '../../src/runtime/index.js'
import type { AuditReport } from '../../src/runtime/index.js'
import { DRAFTS } from '../runtime/events-drafts.js'

import { cordon, cordonLine, startCordon, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()
let made = 0

const newLog = async (maxFileBytes = 1_000_000): Promise<string> => {
  const path = join(folder, String((made += 1)), 'cordon', 'audit.jsonl')
  await record(path, DRAFTS.length, maxFileBytes)
  return path
}

const record = async (path: string, count: number, maxFileBytes = 1_000_000): Promise<void> => {
  const log = await openAuditLog({ path, maxFileBytes })
  const stream = createEventStream({ sessionId: 'session', now: Date.now, newId: () => 'id', record: log.append })
  for (const draft of DRAFTS.slice(-count)) await stream.emit(draft)
  await log.close()
}

/** Entries of a log: each draft, and before them the one with which the file begins. */
const ENTRIES = DRAFTS.length + 1
const DENIAL = DRAFTS.findIndex((draft) => JSON.stringify(draft).includes('a rule denies it')) + 2

describe('cordon log verify', () => {
  it('reports an intact log with 0', async () => {
    const { status, stdout } = cordon(['log', 'verify', await newLog()])
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^intact .*audit\\.jsonl: ${ENTRIES} entries in 1 file, up to sha256:`)),
    ])
    expect(stdout).not.toContain('\u001b')
  })

  it('reports problems with their place, with 1', async () => {
    const path = await newLog()
    writeFileSync(path, readFileSync(path, 'utf8').replace('a rule denies it', 'a rule allows it'))
    const { status, stdout } = cordon(['log', 'verify', path])
    expect(status).toBe(1)
    expect(stdout).toContain(`edited ${path}:${DENIAL}: line ${DENIAL} was changed: its content does not fit its hash`)
    const { problems } = JSON.parse(cordon(['log', 'verify', '--json', path]).stdout) as AuditReport
    expect(problems).toMatchObject([{ kind: 'edited', line: DENIAL }])
  })

  it('notices a removed log by its anchor, and finds an anchor elsewhere', async () => {
    const path = await newLog()
    copyFileSync(`${path}.anchor`, `${path}.kept`)
    rmSync(path)
    expect(cordon(['log', 'verify', path]).status).toBe(1)
    rmSync(`${path}.anchor`)
    expect(cordon(['log', 'verify', path, '--anchor', `${path}.kept`]).status).toBe(1)
    expect(cordon(['log', 'verify', path]).status).toBe(2)
  })
})

describe('cordon log show', () => {
  it('prints one line for each entry, across files', async () => {
    const { status, stdout } = cordon(['log', 'show', await newLog(2000)])
    expect(status).toBe(0)
    const types = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/)[1])
    expect(types.filter((type) => type !== 'audit.began')).toEqual(DRAFTS.map(({ type }) => type))
    expect(types.filter((type) => type === 'audit.began').length).toBeGreaterThan(1)
  })

  it('filters by call, type and time', async () => {
    const path = await newLog()
    const count = (...words: string[]): number =>
      cordon(['log', 'show', path, '--json', ...words]).stdout.split('\n').length - 1
    expect(count()).toBe(ENTRIES)
    expect(count('--call', 'call-2')).toBe(1)
    expect(count('--type', 'hook', '--type', 'tool.denied')).toBe(5)
    expect(count('--since', '1h')).toBe(ENTRIES)
    const about = (host: string) =>
      DRAFTS.filter(
        (draft) =>
          new RegExp(`"(?:host|name|address)":"${host}"`).test(JSON.stringify(draft)) &&
          draft.type !== 'egress.summed' &&
          !('sandbox_profile' in draft),
      ).length
    expect(about('example.org')).toBeGreaterThan(3)
    expect(count('--host', 'Example.org')).toBe(about('example.org'))
    expect(count('--host', '192.0.2.1')).toBe(1)
    expect(count('--host', 'elsewhere.org')).toBe(0)
    expect(count('--since', '2200-01-01')).toBe(0)
  })

  it('with --json prints the lines of the log', async () => {
    const path = await newLog()
    expect(cordon(['log', 'show', '--json', path]).stdout).toBe(readFileSync(path, 'utf8'))
  })

  it('escapes terminal control characters, and reports unreadable lines', async () => {
    const path = await newLog()
    appendFileSync(path, 'no line\n')
    writeFileSync(path, readFileSync(path, 'utf8').replace('a rule denies it', '\\u001b]0;title\\u0007'))
    const { status, stdout, stderr } = cordon(['log', 'show', path])
    expect(status).toBe(0)
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toContain('\\x1b]0;title')
    expect(stderr).toContain(`${path}:${DENIAL} was changed`)
    expect(stderr).toContain(`${path}:${ENTRIES + 1} was changed`)
  })

  it('finds the log by --log, CORDON_AUDIT, XDG_STATE_HOME or the home', async () => {
    const path = await newLog()
    const state = join(path, '..', '..')
    mkdirSync(join(folder, 'home', '.local'), { recursive: true })
    expect(cordon(['log', 'verify', '--log', path]).status).toBe(0)
    expect(cordon(['log', 'verify'], { environment: { CORDON_AUDIT: path } }).status).toBe(0)
    expect(cordon(['log', 'verify'], { environment: { XDG_STATE_HOME: state } }).status).toBe(0)
    await record(join(folder, 'home', '.local', 'state', 'cordon', 'audit.jsonl'), 1)
    expect(cordon(['log', 'verify'], { environment: { XDG_STATE_HOME: '', HOME: join(folder, 'home') } }).status).toBe(
      0,
    )
  })
})

it('cordon log follow prints new entries, across files', async () => {
  const path = await newLog()
  const child = startCordon(['log', 'follow', '--json', path])
  let output = ''
  child.stdout?.on('data', (bytes: Buffer) => (output += bytes.toString()))
  // It cannot be seen from outside when it has begun to wait; so there are new entries until it tells of some.
  for (let round = 0; round < 200 && output.split('\n').length < 4; round += 1) {
    await record(path, 2, 3000)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  child.kill('SIGTERM')
  const sequences = output
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { sequence: number }).sequence)
  expect(sequences.length).toBeGreaterThan(2)
  expect(sequences[0]).toBeGreaterThan(ENTRIES)
  expect(sequences).toEqual(sequences.map((_, index) => (sequences[0] ?? 0) + index))
})

describe('an invalid command gets an error, with 2', () => {
  const MISUNDERSTOOD: readonly (readonly [readonly string[], string])[] = [
    [['log'], 'say what to do'],
    [['log', 'shwo'], 'there is no "cordon log shwo"\nfix: did you mean: cordon log show?\n'],
    [['log', 'verify', '/dev/null', '--log', 'other'], 'one file at a time: other'],
    [['log', 'show', '--type', 'tool.dneied', '/dev/null'], 'fix: did you mean --type tool.denied?\n'],
    [['log', '--jsn', 'show'], 'did you mean --json?'],
    [['log', 'show', '--type', 'tool.invented', '/dev/null'], 'there is no event type tool.invented'],
    [['log', 'show', '--since', 'yesterday', '/dev/null'], '--since needs a time'],
    [['log', 'show', '/nowhere/audit.jsonl'], 'there is no such log'],
    [['log', 'show', 'a', 'b'], 'one file at a time'],
  ]
  const HELP = [
    ['log', 'show', '--help'],
    ['help', 'log'],
  ]
  it.each(MISUNDERSTOOD)('%j', (words, message) => {
    const { status, stderr } = cordonLine(words)
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('and help exits with 0', () => {
    for (const words of HELP)
      expect(cordonLine(words)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('usage: cordon log') as string,
      })
  })
})
