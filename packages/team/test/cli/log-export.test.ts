import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { createEventStream, openAuditLog } from 'cordon'
import { migrate, openPglite } from '../../src/store/index.js'
import { DRAFTS } from '../../../core/test/runtime/events-drafts.js'
import { newRegistry } from '../store/registry.js'

import { CORDON, cordon, temporaryFolder } from '../../../core/test/cli/cordon.js'

const folder = temporaryFolder()
let made = 0

const record = async (path: string): Promise<void> => {
  const log = await openAuditLog({ path })
  let id = 0
  const stream = createEventStream({
    sessionId: 'session',
    now: Date.now,
    newId: () => `id-${String((made += 1))}-${String((id += 1))}`,
    record: log.append,
  })
  for (const draft of DRAFTS) await stream.emit(draft)
  await log.close()
}
const linesOf = (text: string): readonly Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('cordon log export', () => {
  it('writes the lines of a log unchanged, and continues where it stopped', async () => {
    const path = join(folder, 'one', 'audit.jsonl')
    const cursor = join(folder, 'one.cursor')
    await record(path)
    const first = cordon(['log', 'export', '--cursor', cursor, path])
    expect([first.status, first.stdout]).toEqual([0, readFileSync(path, 'utf8')])
    expect(cordon(['log', 'export', '--cursor', cursor, path]).stdout).toBe('')
    await record(path)
    expect(`${first.stdout}${cordon(['log', 'export', path, '--cursor', cursor]).stdout}`).toBe(
      readFileSync(path, 'utf8'),
    )
  })

  it('does not move its mark if the reader disconnects: the next export repeats everything', async () => {
    const path = join(folder, 'broken', 'audit.jsonl')
    const cursor = join(folder, 'broken.cursor')
    // More than a pipe holds.
    for (let times = 0; times < 8; times += 1) await record(path)
    expect(readFileSync(path).length).toBeGreaterThan(100_000)
    const broken = spawnSync(
      'sh',
      ['-c', `'${process.execPath}' '${CORDON}' log export --cursor '${cursor}' '${path}' | head -c 100`],
      { encoding: 'utf8' },
    )
    expect([broken.stdout.length, broken.stderr]).toEqual([
      100,
      expect.stringContaining('the mark of --cursor was not moved'),
    ])
    expect(existsSync(cursor)).toBe(false)
    expect(cordon(['log', 'export', '--cursor', cursor, path]).stdout).toBe(readFileSync(path, 'utf8'))
    expect(existsSync(cursor)).toBe(true)
  })

  it('writes events in the formats of other systems, each with its own id', async () => {
    const path = join(folder, 'two', 'audit.jsonl')
    await record(path)
    const events = linesOf(cordon(['log', 'export', '--format', 'cloudevents', path]).stdout)
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
    expect(events).toContainEqual(
      expect.objectContaining({
        specversion: '1.0',
        type: 'cordon.tool.denied',
        source: 'cordon:session:session',
        datacontenttype: 'application/json',
        time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        data: expect.objectContaining({ type: 'tool.denied' }) as object,
      }),
    )
    const findings = linesOf(cordon(['log', 'export', '--format=ocsf', '--type', 'tool.denied', path]).stdout)
    expect(findings).toMatchObject([
      {
        class_uid: 6003,
        category_uid: 6,
        type_uid: 600399,
        activity_id: 99,
        status_id: 2,
        severity_id: 3,
        time: expect.any(Number) as number,
        api: { operation: 'tool.denied' },
        actor: { user: { name: expect.any(String) as string } },
        metadata: { version: '1.3.0', product: { vendor_name: 'Cordon' } },
      },
    ])
  })

  it('writes requests of the OpenTelemetry logs service, which keep the line and the exact time', async () => {
    const path = join(folder, 'otlp', 'audit.jsonl')
    await record(path)
    const [request, ...others] = linesOf(
      cordon(['log', 'export', '--format', 'otlp', '--type', 'tool.denied', path]).stdout,
    )
    const [original = ''] = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"type":"tool.denied"'))
    const { event } = JSON.parse(original) as { readonly event: { readonly timestamp: string } }
    expect(others).toEqual([])
    expect(request).toMatchObject({
      resourceLogs: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'cordon' } }, {}] },
          scopeLogs: [
            {
              logRecords: [
                {
                  timeUnixNano: `${String(Date.parse(event.timestamp))}000000`,
                  severityNumber: 13,
                  eventName: 'cordon.tool.denied',
                  body: { stringValue: expect.stringContaining('"type":"tool.denied"') as string },
                  attributes: expect.arrayContaining([
                    { key: 'log.record.original', value: { stringValue: original } },
                  ]) as object,
                },
              ],
            },
          ],
        },
      ],
    })
  })

  it('does not continue in another log, and reports the difference', async () => {
    const path = join(folder, 'three', 'audit.jsonl')
    const cursor = join(folder, 'three.cursor')
    await record(path)
    writeFileSync(cursor, JSON.stringify({ sequence: 2, hash: 'sha256:other' }))
    expect(cordon(['log', 'export', '--cursor', cursor, path])).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('fix:') as string,
    })
    writeFileSync(cursor, '{}')
    expect(cordon(['log', 'export', '--cursor', cursor, path]).stderr).toContain('it is not a position')
    writeFileSync(path, readFileSync(path, 'utf8').replace('a rule denies it', 'a rule allows it'))
    expect(cordon(['log', 'export', path])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('cordon log verify') as string,
    })
  })

  it('refuses unknown formats, and lists what a store supports', () => {
    expect(cordon(['log', 'export', '--format', 'xml'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('jsonl, cloudevents, ocsf, otlp') as string,
    })
    expect(cordon(['log', 'show', '--store', folder])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('cordon why') as string,
    })
  })
})

describe('the audit log of a team', () => {
  const store = join(folder, 'store')
  const asked = ['--store', store, '--as', 'anna']

  beforeAll(async () => {
    const engine = openPglite({ folder: join(store, 'data') })
    await migrate(engine)
    const registry = await newRegistry(engine, 'team')
    const tool = await registry.register('look', { p_egress_class: 'none', p_requires_approval: false })
    for (let count = 0; count < 3; count += 1) await registry.invoke(tool)
    await newRegistry(engine, 'others')
    await engine.close()
  })
  afterAll(() => {
    expect(existsSync(join(folder, 'store.cursor'))).toBe(true)
  })

  it('is exported once, completely, and only to members who may see it', () => {
    const cursor = join(folder, 'store.cursor')
    const entries = linesOf(
      cordon(['log', 'export', ...asked, '--team', 'team', '--format', 'cloudevents', '--cursor', cursor]).stdout,
    )
    expect(entries.filter(({ type }) => type === 'cordon.invocation.asked')).toHaveLength(3)
    expect(new Set(entries.map(({ source }) => source))).toEqual(new Set(['cordon:team:team']))
    expect(cordon(['log', 'export', ...asked, '--team', 'team', '--cursor', cursor]).stdout).toBe('')
    expect(cordon(['log', 'export', '--store', store, '--as', 'agent-2', '--team', 'team']).stdout).toBe('')
  })

  it('is verified, and entries younger than --keep stay', () => {
    expect(cordon(['log', 'verify', ...asked])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^intact /) as string,
    })
    expect(cordon(['log', 'prune', ...asked, '--keep', '400d'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^nothing in .* is older than 400 days by a whole partition\n$/) as string,
    })
    expect(cordon(['log', 'prune', ...asked])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--keep needs a number of days') as string,
    })
  })
})
