// The hash of a manifest in events and facts, and the mode in which nothing runs.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, expect, test } from 'vitest'

import { manifestJson, manifestOf } from '../../src/manifest/index.js'
import { createCordon, tool } from '../../src/runtime/index.js'
import type { CordonEvent } from '../../src/runtime/index.js'

import { temporaryFolder } from './project-stage.js'

const KEY = Symbol.for('cordon.describing')
const one = tool({ name: 'one', run: () => 1 })
const MANIFEST = manifestOf({ agents: [], tags: { public: [], trusted: [], own: [] } })

afterEach(() => {
  Reflect.deleteProperty(globalThis, KEY)
})

const called = async (manifest: string) => {
  const events: CordonEvent[] = []
  const cordon = await createCordon({
    workspace: temporaryFolder(),
    tools: [one],
    manifest,
    context: { agent: 'support' },
    onEvent: (event) => void events.push(event),
  })
  const { facts } = await cordon.call('one')
  await cordon.close()
  return { facts, contexts: new Set(events.map(({ context }) => JSON.stringify(context))) }
}

test('every event and the facts of a call carry the hash of the manifest', async () => {
  const file = join(temporaryFolder(), 'cordon.manifest.json')
  writeFileSync(file, manifestJson(MANIFEST))
  for (const given of [file, MANIFEST.hash]) {
    const { facts, contexts } = await called(given)
    expect(facts.manifest_hash).toBe(MANIFEST.hash)
    expect([...contexts]).toEqual([JSON.stringify({ agent: 'support', manifest_hash: MANIFEST.hash })])
  }
})

test('a manifest that was altered, or is not there, is refused', async () => {
  const file = join(temporaryFolder(), 'cordon.manifest.json')
  await expect(called(file)).rejects.toMatchObject({ code: 'manifest-invalid' })
  writeFileSync(file, manifestJson({ ...MANIFEST, tags: { public: ['.'], trusted: [], own: [] } }))
  await expect(called(file)).rejects.toMatchObject({ code: 'manifest-invalid' })
})

test('outside of a description createCordon runs calls, whatever else has that name', async () => {
  ;(globalThis as Record<symbol, unknown>)[KEY] = { form: 'something else' }
  await using cordon = await createCordon({ workspace: temporaryFolder(), tools: [one] })
  expect((await cordon.call('one')).status).toBe('ok')
})

test('a runtime that only describes refuses every way to run a tool', async () => {
  const description = { form: 'cordon-describe/1', project: '/', home: '/', entry: '', agents: [], tools: [] }
  ;(globalThis as Record<symbol, unknown>)[KEY] = description
  const cordon = await createCordon({ workspace: temporaryFolder(), tools: [one], mode: 'bypass' })
  expect(description.agents).toHaveLength(1)
  const refused = { code: 'only-described' }
  await expect(cordon.call('one')).rejects.toMatchObject(refused)
  await expect(cordon.callFromModel({ name: 'one', arguments: '{}' })).rejects.toMatchObject(refused)
  await expect(cordon.resume('ticket')).rejects.toMatchObject(refused)
  await expect(cordon.prewarm('one')).rejects.toMatchObject(refused)
  expect(() => cordon.callStream('one')).toThrow(expect.objectContaining(refused) as Error)
  expect(cordon.listTools().map(({ name }) => name)).toEqual(['one'])
})
