// Checks the published schemas with events of every type and with the events of a real cell.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'

import { parseAbsolutePath, parsePolicy, resolvePolicy } from '../../src/policy/index.js'
import { EVENT_TYPES, createEventStream, recordArguments } from '../../src/runtime/index.js'
import type { CordonEvent } from '../../src/runtime/index.js'
import { describeViolation, openSandbox } from '../../src/sandbox/index.js'

import { auditFolder, writtenLog } from './audit-stage.js'
import { DRAFTS } from './events-drafts.js'

const load = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8')) as object

const ajv = new Ajv2020({
  allErrors: true,
  allowUnionTypes: true,
  strict: true,
  strictRequired: false,
  strictTypes: false,
})
for (const name of ['permission_decision.schema.json', 'permission_state.schema.json', 'sandbox_profile.schema.json'])
  ajv.addSchema(load(name), name)
const isEvent = ajv.compile(load('event.schema.json'))
const isProfile = ajv.compile({ $ref: 'sandbox_profile.schema.json' })

const problemsOf = (event: unknown): unknown => (isEvent(event) ? [] : isEvent.errors)

const stream = createEventStream({ sessionId: 's', now: Date.now, newId: () => 'id', record: () => Promise.resolve() })

describe('the schema of events', () => {
  it.each(DRAFTS.map((draft) => [draft.type, draft] as const))('accepts %s', async (_, draft) => {
    expect(problemsOf(await stream.emit(draft))).toEqual([])
  })

  it('has every type, including those of the log itself', async () => {
    const { oneOf } = load('event.schema.json') as { oneOf: readonly { properties: { type: { const: string } } }[] }
    expect(oneOf.map(({ properties }) => properties.type.const).toSorted()).toEqual([...EVENT_TYPES].toSorted())
    const path = await writtenLog(1)
    const [line = ''] = readFileSync(path, 'utf8').split('\n')
    expect(problemsOf((JSON.parse(line) as { event: CordonEvent }).event)).toEqual([])
  })

  it('refuses an event with a missing field, an unknown one, or a value of an environment variable', async () => {
    const [draft] = DRAFTS.filter(({ type }) => type === 'tool.called')
    const event = await stream.emit(draft ?? expect.fail('no draft'))
    const { decision_id: _, ...lacking } = event as unknown as Record<string, unknown>
    expect(isEvent(lacking)).toBe(false)
    expect(isEvent({ ...event, environment: { TOKEN: 'x' } })).toBe(false)
    expect(isEvent({ ...event, type: 'tool.invented' })).toBe(false)
  })
})

it('the profile and violations of a real cell fit their schemas', async () => {
  const folder = auditFolder()
  const policy = parsePolicy(
    {
      filesystem: { read: [folder], write: [`${folder}/**`] },
      environment: ['SECRET=hunter2'],
      limits: { wall: '20s' },
    },
    'test',
  )
  const place = parseAbsolutePath(folder)
  const boundary = resolvePolicy(policy, { workspace: place, home: place, kind: 'process' })
  const sandbox = await openSandbox({ nursery: 'none' })
  try {
    const result = await sandbox.run({
      boundary,
      cwd: place,
      argv: ['/bin/bash', '-c', `exec 3<>/dev/tcp/192.0.2.1/443; echo done > ${join(folder, 'out')}`],
      hostEnvironment: {},
    })
    expect(isProfile(result.profile) ? [] : isProfile.errors).toEqual([])
    const call = { call_id: 'c', tool: 'bash', decision_id: 'd' }
    const applied = await stream.emit({ type: 'sandbox.applied', ...call, sandbox_profile: result.profile })
    expect(problemsOf(applied)).toEqual([])
    expect(JSON.stringify(applied)).not.toContain('hunter2')
    expect(result.violations.length).toBeGreaterThan(0)
    for (const [index, violation] of result.violations.entries()) {
      expect(
        problemsOf(
          await stream.emit({
            type: 'sandbox.violation',
            ...call,
            violation,
            violation_ref: result.profile.violation_refs[index] ?? '',
            description: describeViolation(violation),
          }),
        ),
      ).toEqual([])
    }
    expect(
      problemsOf(
        await stream.emit({
          type: 'process.started',
          ...call,
          program: '/bin/bash',
          arguments: recordArguments(['-c', 'x']),
          cwd: folder,
        }),
      ),
    ).toEqual([])
  } finally {
    await sandbox.close()
  }
})
