// A schema may transform what it reads. It reads an input once, also if a hook or an approver changes it afterwards.
import { expect, it } from 'vitest'
import { z } from 'zod'

import type { Evaluation } from '../../src/gate/index.js'

import { callOf, gateWith, hook, outcomeOf, toolWith } from './stage.js'

const schema = z.object({
  path: z.string().transform((path) => `/data/${path}`),
  count: z.string().transform(Number),
  note: z.string(),
})
const tool = toolWith({ schema, policy: { risk: 'low', filesystem: { read: ['/data/**'] } } })
const given = { path: 'a', count: '3', note: 'old' }
const read = { path: '/data/a', count: 3, note: 'old' }

const edited = (updatedInput: unknown, tools = [tool], input: unknown = given) =>
  gateWith({
    tools,
    hooks: [
      hook(({ input: seen }: { input: unknown }) =>
        JSON.stringify(seen) === JSON.stringify(updatedInput) ? {} : { updatedInput },
      ),
    ],
  }).decide(callOf(input))

const inputOf = (evaluation: Evaluation) => (evaluation.kind === 'permitted' ? evaluation.inputs.call : undefined)

it('an input that a hook changes runs as the hook wrote it, and is not transformed again', async () => {
  expect(inputOf(await edited({ ...read, note: 'new' }))).toEqual({ ...read, note: 'new' })
  expect(inputOf(await edited({ ...read, path: '/data/b' }))).toEqual({ ...read, path: '/data/b' })
  expect(inputOf(await edited(read))).toEqual(read)
})

it('the gate judges what the hook wrote', async () => {
  expect(outcomeOf(await edited({ ...read, path: '/etc/shadow' }))).toBe('deny argument-path-denied')
})

it('an input that an approver changes runs as the approver wrote it', async () => {
  const gate = gateWith({ tools: [tool], rules: [{ effect: 'ask', because: 'x' }] })
  const answer = (input: unknown) => ({ kind: 'modify', by: 'ann', input })
  const changed = await gate.settle(await gate.decide(callOf(given)), answer({ ...read, note: 'new' }))
  expect(inputOf(changed)).toEqual({ ...read, note: 'new' })
  const refused = await gate.settle(await gate.decide(callOf(given)), answer({ ...read, path: '/etc/shadow' }))
  expect(outcomeOf(refused)).toBe('deny argument-path-denied')
})

it('a schema that leaves alone what it has read reads a changed input again', async () => {
  const plain = [toolWith({ schema: z.object({ note: z.string().trim(), count: z.number().default(1) }) })]
  const note = { note: ' old ' }
  expect(inputOf(await edited({ note: 'new', count: 2 }, plain, note))).toEqual({ note: 'new', count: 2 })
  expect(outcomeOf(await edited({ note: 5, count: 1 }, plain, note))).toBe('deny input-invalid')
})
