// What a model reads: tools, names, results and refusals.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'

import { pathRead } from '../../src/gate/index.js'
import { modelNamesOf } from '../../src/runtime/model/list-tools.js'
import { createCordon, processTool, toModel, tool } from '../../src/runtime/index.js'
import type { Cordon, CordonOptions, ToolDefinition, ToolResult } from '../../src/runtime/index.js'

let workspace: string
const open: Cordon[] = []

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'cordon-model-'))
})

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
  rmSync(workspace, { recursive: true, force: true })
})

const cordonWith = async (tools: readonly ToolDefinition[], options: Partial<CordonOptions> = {}): Promise<Cordon> => {
  const cordon = await createCordon({
    tools,
    workspace,
    home: workspace,
    ruleFiles: 'none',
    telemetry: 'off',
    mode: 'on_request',
    audit: { path: join(workspace, 'log', 'audit.jsonl') },
    ...options,
  })
  open.push(cordon)
  return cordon
}

const echo = tool({
  name: 'text/echo',
  description: 'Repeats a text',
  input: { type: 'object', properties: { text: pathRead({ type: 'string' }) }, required: ['text'] },
  argumentGate: 'off',
  run: ({ text }: { text: string }) => text,
})

describe('the list of tools', () => {
  test('has a JSON Schema without marks, also of a zod schema', async () => {
    const typed = tool({
      name: 'typed',
      input: z.object({ n: z.number().default(1), p: pathRead(z.string()) }),
      run: ({ n }) => n,
    })
    const [first, second] = (await cordonWith([echo, typed])).listTools()
    expect(first?.inputSchema).toEqual({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] })
    expect(second?.inputSchema).toMatchObject({ type: 'object', required: ['p'], properties: { n: { default: 1 } } })
    expect(JSON.stringify(second?.inputSchema)).not.toContain('cordon')
  })

  test('says what each policy guarantees', async () => {
    const flags = async (definition: ToolDefinition) => {
      const [listed] = (await cordonWith([definition])).listTools()
      return [listed?.readOnly, listed?.destructive, listed?.openWorld]
    }
    const run = () => 1
    expect(await flags(tool({ name: 'a', run }))).toEqual([true, false, false])
    expect(await flags(tool({ name: 'a', policy: { filesystem: { write: ['./out/**'] } }, run }))).toEqual([
      false,
      false,
      false,
    ])
    expect(await flags(tool({ name: 'a', policy: { network: [{ host: 'a.org', methods: ['GET'] }] }, run }))).toEqual([
      true,
      false,
      true,
    ])
    expect(await flags(tool({ name: 'a', policy: { network: ['a.org'] }, run }))).toEqual([false, false, true])
    expect(await flags(tool({ name: 'a', run, destructive: { impactScope: 'x', rollbackAdvice: 'y' } }))).toEqual([
      false,
      true,
      false,
    ])
    expect(await flags(tool({ name: 'a', inProcess: true, run }))).toEqual([false, false, true])
  })

  test('gives every tool a name that providers accept, and no two the same', () => {
    const long = 'x'.repeat(100)
    const names = ['plain', 'a.b', 'a_b', 'a:b', 'a/b', long, `${long.slice(0, 90)}.y`]
    const given = [...modelNamesOf(names).values()]
    expect(new Set(given).size).toBe(names.length)
    for (const each of given) expect(each).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(given.slice(0, 1)).toEqual(['plain'])
    expect(modelNamesOf(names).get('a_b')).toBe('a_b')
  })
})

describe('a call that a model gave', () => {
  test('runs by the name for models, with arguments as text or as a value', async () => {
    const cordon = await cordonWith([echo])
    const [listed] = cordon.listTools()
    expect(listed?.modelName).toBe('text_echo')
    expect(await cordon.callFromModel({ name: 'text_echo', arguments: '{"text":"a"}' })).toMatchObject({
      status: 'ok',
      output: 'a',
    })
    expect(await cordon.callFromModel({ name: 'text/echo', arguments: { text: 'b' } })).toMatchObject({
      status: 'ok',
      output: 'b',
    })
  })

  test.each([
    ['text that is not JSON', '{"text": '],
    ['a key that stands twice', '{"text":"a","text":"b"}'],
  ])('is refused and recorded where its arguments are %s', async (_, given) => {
    const cordon = await cordonWith([echo])
    const result = await cordon.callFromModel({ name: 'text_echo', arguments: given })
    expect(result).toMatchObject({ status: 'denied', facts: { error: { code: 'input-not-json' } } })
    expect(readFileSync(join(workspace, 'log', 'audit.jsonl'), 'utf8')).toContain('tool.denied')
  })

  test('of a tool that does not exist is refused and recorded', async () => {
    const cordon = await cordonWith([echo])
    expect(await cordon.callFromModel({ name: 'ecoh', arguments: '{}' })).toMatchObject({
      status: 'denied',
      facts: { error: { code: 'tool-unknown' } },
    })
  })
})

describe('a result for a model', () => {
  const sh = processTool({ name: 'sh', command: ({ line }: { line: string }) => ['sh', '-c', line] })

  test('shows a program as a terminal would', async () => {
    const cordon = await cordonWith([sh])
    const of = async (line: string) => toModel(await cordon.call('sh', { line }))
    expect(await of('echo out; echo err >&2')).toMatchObject({ text: 'out\n\nerr\n', isError: false, status: 'ok' })
    const failed = await of('echo half; exit 3')
    expect(failed).toMatchObject({ isError: true, status: 'failed', structuredContent: { exit_code: 3 } })
    expect(failed.text).toMatch(/^Failed: .*\n\nhalf\n\nexit status 3$/s)
    expect((await of('true')).text).toBe('The tool succeeded without output.')
  })

  test('says which kind of refusal it was', async () => {
    const cordon = await cordonWith([sh], {
      rules: [[{ effect: 'deny', tool: 'sh', command: 'rm **', because: 'no removing' }]],
    })
    expect(toModel(await cordon.call('sh', { line: 'cat /etc/shadow' })).text).toMatch(/^Stopped: .*sandbox/)
    expect(toModel(await cordon.call('sh', { line: 'true' }, { signal: AbortSignal.abort() })).text).toMatch(
      /^Cancelled:/,
    )
    const unknown = toModel(await cordon.callFromModel({ name: 'none' }))
    expect(unknown).toMatchObject({ isError: true, status: 'denied' })
    expect(unknown.text).toMatch(/^Denied: this call did not run\./)
  })

  test('is cut where it is long, and keeps both ends', () => {
    const facts = {} as ToolResult['facts']
    const { text } = toModel({ status: 'ok', output: `first${'x'.repeat(100_000)}last`, facts })
    expect(text.length).toBeLessThan(31_000)
    expect(text).toMatch(/^first.*left out.*last$/s)
  })
})
