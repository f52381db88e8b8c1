import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { toModel, tool } from '../../src/runtime/index.js'

import { asWritten, openStage } from './stage.js'

const stage = openStage()

const FAILING = asWritten(`({ text }) => {
  const deeper = () => { throw new TypeError(text) }
  deeper()
}`)

test('the operator reads where a function tool threw, and the model does not', async () => {
  const log = join(stage.newFolder(), 'audit.jsonl')
  const cordon = await stage.cordon({
    tools: [tool({ name: 'fail', run: FAILING }), tool({ name: 'work', run: () => 1 })],
    audit: { path: log },
  })
  const result = await cordon.call('fail', { text: 'no such pear' })
  expect(result.facts.error).toEqual({
    code: 'tool-failed',
    message: expect.any(String) as string,
    fix: null,
    stack: expect.stringMatching(/^TypeError: no such pear\n +at deeper \(<anonymous>:2:32\)\n/) as string,
  })
  expect(result.facts.error?.stack).not.toMatch(/runner\.js|function-cell/)
  expect(JSON.stringify([result.reason, result.output, toModel(result)])).not.toContain('deeper')
  const worked = await cordon.call('work', {})
  expect([worked.status, worked.facts.error]).toEqual(['ok', null])
  await cordon.close()
  expect(readFileSync(log, 'utf8')).not.toContain('deeper')
})

test('the stack of a module names its own file and no file of Cordon', async () => {
  const folder = stage.newFolder()
  const file = join(folder, 'tool.mjs')
  writeFileSync(file, 'export const run = () => { throw new Error("x") }\n')
  writeFileSync(join(folder, 'broken.mjs'), 'throw new Error("at load")\n')
  const cordon = await stage.cordon({
    tools: [
      tool({ name: 'thrown', module: file, export: 'run' }),
      tool({ name: 'broken', module: join(folder, 'broken.mjs'), export: 'run' }),
    ],
  })
  const { stack } = (await cordon.call('thrown', {})).facts.error ?? {}
  expect(stack).toContain(`tool.mjs:1:34`)
  expect(stack).not.toContain('runner.js')
  const broken = await cordon.call('broken', {})
  expect(broken.facts.error).toMatchObject({ code: 'tool-unloadable' })
  expect(broken.facts.error?.stack).toContain('broken.mjs:1:7')
})

test('a call that met its boundary has the stack too', async () => {
  const cordon = await stage.cordon({
    tools: [
      tool({ name: 'read', run: asWritten("async () => (await import('node:fs')).readFileSync('/etc/shadow')") }),
    ],
  })
  const result = await cordon.call('read', {})
  expect(result).toMatchObject({ status: 'violated', facts: { error: { code: 'tool-violated' } } })
  expect(result.facts.error?.stack).toContain('readFileSync')
})

test('an in-process tool has it without the files of Cordon', async () => {
  const cordon = await stage.cordon({
    tools: [tool({ name: 'here', inProcess: true, run: FAILING })],
    rules: [{ rules: [{ effect: 'allow', tool: 'here', because: 'a test' }] }],
  })
  const { stack = '' } = (await cordon.call('here', { text: 'x' })).facts.error ?? {}
  expect(stack).toContain('deeper')
  expect(stack).not.toContain('/src/runtime/')
})

test('a stack that a tool makes up is bounded, and is text only', async () => {
  const cordon = await stage.cordon({
    tools: [
      tool({
        name: 'long',
        run: asWritten(
          '() => { const e = new Error("x"); e.stack = "y".repeat(1e6) + "\\n(eval at ".repeat(1e5); throw e }',
        ),
      }),
      tool({ name: 'odd', run: asWritten('() => { const e = new Error("x"); e.stack = { toString: 1 }; throw e }') }),
    ],
  })
  const { stack = '' } = (await cordon.call('long', {})).facts.error ?? {}
  expect(stack.length).toBeLessThanOrEqual(8 * 1024)
  expect((await cordon.call('odd', {})).status).toBe('failed')
})
