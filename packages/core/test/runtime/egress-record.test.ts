// The record of a call's network activity.
import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'

import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, describe, expect, test } from 'vitest'

import { networkLines } from '../../src/commands/log/reached-text.js'
import { processTool, readLine, verifyAudit } from '../../src/runtime/index.js'
import type { Cordon, CordonEvent, CordonOptions } from '../../src/runtime/index.js'
import { echo, serverAuthority, startHttp, startHttps, startTcp } from '../egress/servers.js'

import { eventsOf, openStage } from './stage.js'

const HOST = 'api.test'
const web = await startHttps(echo, { host: HOST })
const plain = await startHttp(echo)
const repeater = await startTcp((socket) => {
  socket.pipe(socket)
})
/** Takes a connection and never says anything. */
const silent = await startHttps(() => undefined, { host: HOST })
afterAll(() => Promise.all([web, plain, repeater, silent].map((server) => server.close())))

const stage = openStage()
const at = ({ port }: { readonly port: number }): string => `${HOST}:${String(port)}`
const grants = [web, plain, repeater, silent].map(at)
const policy = { network: grants, egress_class: 'read_only' } as const
const curling = processTool({
  name: 'curling',
  policy,
  command: ({ words }: { readonly words: readonly string[] }) => ['curl', '-sS', ...words],
})
const talking = processTool({
  name: 'talking',
  policy: { network: [at(repeater)], egress_class: 'write' },
  command: () => [
    '/usr/bin/python3',
    '-c',
    `import socket\ns = socket.create_connection(("${HOST}", ${String(repeater.port)})); ` +
      `s.sendall(b"hello\\n"); s.shutdown(1)\nwhile s.recv(99): pass`,
  ],
})
const leaving = processTool({
  name: 'leaving',
  policy: { network: [at(repeater)], egress_class: 'write' },
  command: ({ connections }: { readonly connections: string }) => [
    '/usr/bin/python3',
    '-c',
    `import socket\n` +
      `for s in [socket.create_connection(("${HOST}", ${String(repeater.port)})) for _ in range(${connections})]: ` +
      `s.sendall(b"hello\\n"); s.recv(99)`,
  ],
})

const open = async (
  options: Partial<CordonOptions> = {},
): Promise<{ readonly runtime: Cordon; readonly events: CordonEvent[]; readonly log: string }> => {
  const log = join(stage.newFolder(), 'audit.jsonl')
  const runtime = await stage.cordon({
    tools: [curling, talking, leaving],
    audit: { path: log },
    egress: { authorities: [serverAuthority.certificate], pins: { [HOST]: ['127.0.0.1'] } },
    ...options,
  })
  return { runtime, events: eventsOf(runtime), log }
}

const approve: CordonOptions['approve'] = () => Promise.resolve({ kind: 'approve_once', by: 'ann' })

const schema = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8')) as object
const ajv = new Ajv2020({
  allErrors: true,
  allowUnionTypes: true,
  strict: true,
  strictRequired: false,
  strictTypes: false,
})
for (const name of ['permission_decision.schema.json', 'permission_state.schema.json', 'sandbox_profile.schema.json'])
  ajv.addSchema(schema(name), name)
const isEvent = ajv.compile(schema('event.schema.json'))

const ofEgress = (events: readonly CordonEvent[]) => events.filter(({ type }) => type.startsWith('egress.'))
const written = (log: string): readonly CordonEvent[] =>
  readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const read = readLine(line)
      if (read.kind === 'unreadable') throw new Error(line)
      return read.line.event
    })

describe('the record of a call with granted hosts', () => {
  test('has every connection and request, in order, with call and decision, as the schema says', async () => {
    const { runtime, events, log } = await open()
    const { status, facts } = await runtime.call('curling', {
      words: ['--http1.1', '--noproxy', '*', `https://${at(web)}/one?token=hidden`, `https://${at(web)}/two`],
    })
    expect(status).toBe('ok')
    const common = {
      call_id: facts.call_id,
      tool: 'curling',
      decision_id: facts.permission_decision.decision_id,
      connection: 1,
      host: HOST,
      port: web.port,
    }
    const request = {
      type: 'egress.request',
      ...common,
      protocol: 'http/1.1',
      scheme: 'https',
      method: 'GET',
      status: 200,
      rule: `${at(web)} GET|HEAD|OPTIONS`,
      credentials: [],
      redactions: 0,
      problem: null,
    }
    expect(ofEgress(events)).toMatchObject([
      { type: 'egress.opened', ...common, treatment: 'http' },
      { ...request, path: '/one' },
      { ...request, path: '/two' },
      { type: 'egress.closed', ...common, problem: null },
    ])
    expect(facts.egress).toMatchObject({
      connections: 1,
      requests: 2,
      bytes_sent: 0,
      more_hosts: 0,
      hosts: [{ host: HOST, port: web.port, connections: 1, requests: 2, credentials: [], problems: [] }],
    })
    expect(facts.egress?.bytes_received).toBeGreaterThan(100)
    for (const event of events) expect(isEvent(event) ? [] : isEvent.errors).toEqual([])
    await runtime.close()
    expect((await verifyAudit(log)).isIntact).toBe(true)
    const types = written(log)
      .filter(({ call_id: id }) => id === facts.call_id)
      .map(({ type }) => type)
    expect(types.slice(types.indexOf('process.started'))).toEqual([
      'process.started',
      'egress.opened',
      'egress.request',
      'egress.request',
      'egress.closed',
      'sandbox.applied',
      'process.completed',
      'tool.completed',
    ])
    expect(readFileSync(log, 'utf8')).not.toContain('token=hidden')
  })

  test('is limited: after a number of entries the rest is summed up, which is recorded before anything is sent without one', async () => {
    const { runtime, events, log } = await open({ record: { egressEntries: 3 } })
    const urls = (count: number) => Array.from({ length: count }, (_, at) => `https://${urlAt(at)}`)
    const urlAt = (number: number): string => `${at(web)}/${String(number)}`
    const { status, facts } = await runtime.call('curling', {
      words: ['--http1.1', '--noproxy', '*', ...urls(5), `http://${at(plain)}/other`],
    })
    expect(status).toBe('ok')
    expect(ofEgress(events)).toMatchObject([
      { type: 'egress.opened' },
      { type: 'egress.request', path: '/0' },
      { type: 'egress.request', path: '/1' },
      { type: 'egress.summed', call_id: facts.call_id, entries: 3, sum: null },
      {
        type: 'egress.summed',
        entries: 3,
        sum: {
          connections: 1,
          requests: 4,
          more_hosts: 0,
          hosts: [
            { host: HOST, port: web.port, connections: 0, requests: 3 },
            { host: HOST, port: plain.port, connections: 1, requests: 1 },
          ],
        },
      },
    ])
    expect(facts.egress).toMatchObject({ connections: 2, requests: 6 })
    for (const event of events) expect(isEvent(event) ? [] : isEvent.errors).toEqual([])
    await runtime.close()
    expect((await verifyAudit(log)).isIntact).toBe(true)
    // Whoever asks why is told of all of it.
    expect(networkLines(written(log))).toEqual([
      ['reached', expect.stringContaining(`${at(web)}: 1 connection, 5 requests`)],
      ['reached', expect.stringContaining(`${at(plain)}: 1 connection, 1 request,`)],
    ])
    const few = await open({ record: { egressEntries: 4 } })
    await few.runtime.call('curling', { words: ['--http1.1', '--noproxy', '*', ...urls(2)] })
    expect(ofEgress(few.events).map(({ type }) => type)).toEqual([
      'egress.opened',
      'egress.request',
      'egress.request',
      'egress.closed',
    ])
  })

  test('has streams with their bytes, and each request to the proxy for a whole URL', async () => {
    const { runtime, events } = await open({ approve })
    await runtime.call('talking')
    expect(ofEgress(events)).toMatchObject([
      { type: 'egress.opened', treatment: 'stream' },
      { type: 'egress.closed', bytes_sent: 6, bytes_received: 6, problem: null },
    ])
    events.length = 0
    await runtime.call('curling', { words: [`http://${at(plain)}/plain?q`, `http://${at(plain)}/more`] })
    const opened = { type: 'egress.opened', port: plain.port, treatment: 'http' }
    expect(ofEgress(events)).toMatchObject([
      { ...opened, connection: 1 },
      { type: 'egress.request', connection: 1, scheme: 'http', path: '/plain' },
      { type: 'egress.closed', connection: 1 },
      { ...opened, connection: 2 },
      { type: 'egress.request', connection: 2, path: '/more' },
      { type: 'egress.closed', connection: 2 },
    ])
  })

  test('is written over many turns of the event loop if hundreds of connections end with the tool', async () => {
    const { runtime } = await open({ approve })
    const inTurn: number[] = [0]
    let isOver = false
    const count = (): void => {
      inTurn.push(0)
      if (!isOver) setImmediate(count)
    }
    runtime.on('egress.closed', () => {
      inTurn[inTurn.length - 1] = (inTurn.at(-1) ?? 0) + 1
    })
    count()
    const { status, facts } = await runtime.call('leaving', { connections: '200' })
    isOver = true
    expect(status).toBe('ok')
    expect(facts.egress).toMatchObject({ connections: 200, hosts: [{ bytes_sent: 1200, bytes_received: 1200 }] })
    expect(inTurn.reduce((sum, each) => sum + each)).toBe(200)
    expect(Math.max(...inTurn)).toBeLessThan(50)
  })

  test('has refusals, with the line of a policy that would allow them', async () => {
    const { runtime, events } = await open()
    const { facts } = await runtime.call('curling', {
      words: ['-X', 'POST', '--noproxy', '*', `https://${at(web)}/posted`],
    })
    expect(facts.violations).toContainEqual(
      expect.objectContaining({
        kind: 'egress',
        host: HOST,
        port: web.port,
        method: 'POST',
        path: '/posted',
        reason: 'read-only',
        allow: expect.stringContaining('write') as string,
      }),
    )
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'sandbox.violation',
        call_id: facts.call_id,
        description: expect.stringContaining(`refused POST ${at(web)}/posted`) as string,
      }),
    )
    // It was connected, and nothing was asked of the server.
    expect(facts.egress).toMatchObject({ connections: 1, requests: 0 })
  })

  test('has each refusal once, so that a tool cannot hide one behind a thousand others', async () => {
    const { runtime } = await open()
    const { facts } = await runtime.call('curling', {
      words: [
        '--http1.1',
        '--noproxy',
        '*',
        '-X',
        'POST',
        ...Array.from({ length: 1001 }, () => `https://${at(web)}/same`),
        `https://${at(web)}/other`,
      ],
    })
    expect(facts.violations).toMatchObject([
      { kind: 'egress', path: '/same', reason: 'read-only' },
      { kind: 'egress', path: '/other' },
    ])
  })

  test('is complete for a call that is cancelled during a request', async () => {
    const { runtime, events } = await open()
    const abort = new AbortController()
    runtime.on('egress.opened', () =>
      setTimeout(() => {
        abort.abort()
      }, 200),
    )
    const { status, facts } = await runtime.call(
      'curling',
      { words: [`https://${at(silent)}/`] },
      { signal: abort.signal },
    )
    expect(status).toBe('cancelled')
    expect(facts.egress).toMatchObject({ connections: 1, hosts: [{ host: HOST, port: silent.port }] })
    const types = events.filter(({ call_id: id }) => id === facts.call_id).map(({ type }) => type)
    expect(types.indexOf('egress.closed')).toBeGreaterThan(types.indexOf('egress.opened'))
    expect(types.at(-1)).toBe('tool.completed')
  })

  test('must be written before a connection happens', async () => {
    const { runtime, log } = await open()
    const call = () => runtime.call('curling', { words: ['--noproxy', '*', `https://${at(web)}/unrecorded`] })
    const before = web.connections()
    expect((await call()).status).toBe('ok')
    expect(web.connections()).toBe(before + 1)
    // It began, and from now on nothing can be written.
    runtime.on('process.started', () => {
      renameSync(log, `${log}.gone`)
    })
    await expect(call()).rejects.toMatchObject({
      code: 'end-not-recorded',
      cause: { code: expect.stringMatching(/^audit-/) as string },
    })
    expect(web.connections()).toBe(before + 1)
    expect(readFileSync(`${log}.gone`, 'utf8').match(/egress\.opened/g)).toHaveLength(1)
  })

  test('is separate for concurrent calls', async () => {
    const { runtime, events } = await open()
    const results = await Promise.all(
      ['a', 'b', 'c'].map((name) => runtime.call('curling', { words: [`https://${at(web)}/${name}`] })),
    )
    for (const [index, { facts }] of results.entries()) {
      expect(
        events.filter((event) => event.call_id === facts.call_id && event.type === 'egress.request'),
      ).toMatchObject([{ path: `/${'abc'.charAt(index)}`, connection: 1 }])
      expect(facts.egress).toMatchObject({ connections: 1, requests: 1 })
    }
  })
})
