// Several processes share one log, and some are killed in the middle.
import { readdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { expect, it } from 'vitest'

import { createLogReader, openAuditLog, readLine, verifyAudit } from '../../src/runtime/index.js'

import { AN_EVENT, anEvent, auditFolder, otherProcess, withLog, writtenLog } from './audit-stage.js'

const WRITER = `${AN_EVENT}
  const [path, name, count, maxFileBytes] = words
  const log = await runtime.openAuditLog({ path, maxFileBytes: Number(maxFileBytes) })
  console.log('open')
  for (let index = 1; index <= Number(count); index += 1) {
    await log.append([anEvent(name, index)])
    if (index % 8 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await log.close()`

const entriesOf = async (path: string): Promise<ReadonlyMap<string, readonly number[]>> => {
  const found = new Map<string, number[]>()
  const reader = createLogReader(path)
  for await (const { text } of reader.lines()) {
    const read = readLine(text)
    if (read.kind !== 'line' || read.line.event.type !== 'session.ended') continue
    const { reason, sequence } = read.line.event
    found.set(reason, [...(found.get(reason) ?? []), sequence])
  }
  await reader.close()
  return found
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

it('three processes write one chain, each with its lines in order, across files', async () => {
  const path = join(auditFolder(), 'audit.jsonl')
  const writers = ['a', 'b', 'c'].map((name) => otherProcess(WRITER, [path, name, '150', '20000']))
  for (const { ended } of writers) expect(await ended).toMatchObject({ code: 0, output: 'open\n' })
  const report = await verifyAudit(path)
  expect(report.problems).toEqual([])
  expect(report.notes).toEqual([])
  expect(report.files.length).toBeGreaterThan(2)
  expect(await entriesOf(path)).toEqual(
    new Map([
      ['a', upTo(150)],
      ['b', upTo(150)],
      ['c', upTo(150)],
    ]),
  )
  expect(readdirSync(dirname(path)).filter((name) => name.includes('.lock'))).toEqual([])
})

it('processes killed while they write leave an intact log without gaps', async () => {
  const path = join(auditFolder(), 'audit.jsonl')
  await withLog({ path }, async (log) => {
    for (let round = 0; round < 6; round += 1) {
      const victims = ['x', 'y'].map((name) =>
        otherProcess(WRITER, [path, `${name}${String(round)}`, '1000000', '30000']),
      )
      for (const { speaks } of victims) await speaks
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200))
      for (const victim of victims) victim.kill()
      for (const { ended } of victims) expect((await ended).signal).toBe('SIGKILL')
      // This one had it open all the time.
      await log.append([anEvent('survivor', round + 1)])
    }
  })
  await writtenLog(1, { path })
  const report = await verifyAudit(path)
  expect(report.problems).toEqual([])
  const entries = await entriesOf(path)
  expect(entries.get('survivor')).toEqual(upTo(6))
  // At least some of them got to write, and what they wrote has no holes.
  expect(entries.size).toBeGreaterThan(3)
  for (const [, sequences] of entries) expect(sequences).toEqual(upTo(sequences.length))
})

it('a dead process loses its lock, and a live one keeps it', async () => {
  const path = await writtenLog(1)
  const dead = otherProcess('', [])
  await dead.ended
  symlinkSync(`${String(dead.pid)}:1:${/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''}:`, `${path}.lock`)
  await writtenLog(1, { path })
  expect((await verifyAudit(path)).isIntact).toBe(true)
  symlinkSync(`${String(process.pid)}::${/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''}:`, `${path}.lock`)
  await expect(openAuditLog({ path, lockTimeout: 100 })).rejects.toMatchObject({ code: 'audit-busy' })
})

it('a lock of a process that cannot be checked from here is never taken over', async () => {
  const path = await writtenLog(1)
  symlinkSync('4000000:1:1:', `${path}.lock`)
  await expect(openAuditLog({ path, lockTimeout: 100 })).rejects.toMatchObject({
    code: 'audit-busy',
    fix: expect.stringContaining(`${path}.lock`) as string,
  })
})
