// The types of tools, calls and results. `tsc -p test/tsconfig.json` checks this file. The tests show that the values
// have these types.
import { tmpdir } from 'node:os'

import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'

import type { ApprovalAnswer, JsonValue, RuleSetInput } from '../../src/gate/index.js'
import type { PolicyInput } from '../../src/policy/index.js'
import { createCordon, processTool, tool } from '../../src/runtime/index.js'
import type {
  Cordon,
  CordonOptions,
  OutputOfTool,
  ProcessOutput,
  ToolDefinition,
  ToolResult,
} from '../../src/runtime/index.js'

const add = tool({
  name: 'add',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' }, unit: { enum: ['m', 'km'] } },
    required: ['a', 'b'],
  },
  inProcess: true,
  run: ({ a, b }) => ({ sum: a + b }),
})
const grep = processTool({
  name: 'grep',
  input: z.object({ pattern: z.string(), most: z.number().default(10) }),
  command: ({ pattern, most }) => ['grep', '-m', String(most), '--', pattern],
})
const plain = tool({ name: 'plain', inProcess: true, run: async ({ n }: { n: number }) => Promise.resolve(n) })

const open = () =>
  createCordon({
    workspace: tmpdir(),
    ruleFiles: 'none',
    telemetry: 'off',
    mode: 'bypass',
    tools: [add, grep, plain],
  })

describe('types', () => {
  test('a tool that is written within createCordon knows its input and output too', async () => {
    await using cordon = await createCordon({
      workspace: tmpdir(),
      ruleFiles: 'none',
      telemetry: 'off',
      mode: 'bypass',
      tools: [
        tool({
          name: 'length',
          input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
          inProcess: true,
          run: ({ text }) => {
            expectTypeOf(text).toEqualTypeOf<string>()
            return text.length
          },
        }),
      ],
    })
    const result = await cordon.call('length', { text: 'four' })
    expectTypeOf(result).toEqualTypeOf<ToolResult<number>>()
    expect(result.output).toBe(4)
  })

  test('a call knows its names, inputs and outputs', async () => {
    const cordon = await open()
    const sum = await cordon.call('add', { a: 1, b: 2 })
    if (sum.status !== 'ok') throw new Error(sum.reason)
    expectTypeOf(sum.output).toEqualTypeOf<{ sum: number }>()
    expect(sum.output.sum).toBe(3)
    const wrong = async (): Promise<void> => {
      // @ts-expect-error -- no such tool
      await cordon.call('ad', { a: 1, b: 2 })
      // @ts-expect-error -- b is missing
      await cordon.call('add', { a: 1 })
      // @ts-expect-error -- not a unit
      await cordon.call('add', { a: 1, b: 2, unit: 'mile' })
      // @ts-expect-error -- a tool with a required input is not called without one
      await cordon.call('add')
      // @ts-expect-error -- n is a number
      await cordon.call('plain', { n: 'x' })
      // @ts-expect-error -- the same for a stream: b is missing
      cordon.callStream('add', { a: 1 })
      for await (const part of cordon.callStream('add', { a: 1, b: 2 }))
        if (part.kind === 'result' && part.result.status === 'ok')
          expectTypeOf(part.result.output).toEqualTypeOf<{ sum: number }>()
      // The default of a schema is for the caller to leave out.
      expectTypeOf(await cordon.call('grep', { pattern: 'x' })).toEqualTypeOf<ToolResult<ProcessOutput>>()
      expectTypeOf(await cordon.call('plain', { n: 1 })).toEqualTypeOf<ToolResult<number>>()
      // A name that only the model knows.
      expectTypeOf(await cordon.call('x' as string, { any: 1 })).toEqualTypeOf<ToolResult>()
    }
    expect(wrong).toBeTypeOf('function')
    await cordon.close()
  })

  test('a result of a function without types is JSON, and not any', () => {
    const read = async (cordon: Cordon, name: string) => {
      expectTypeOf(await cordon.call(name)).toEqualTypeOf<ToolResult>()
    }
    expect(read).toBeTypeOf('function')
    const untyped = tool({ name: 'untyped', run: (): unknown => 1 })
    expect(untyped.name).toBe('untyped')
    expectTypeOf<OutputOfTool<typeof untyped>>().toEqualTypeOf<JsonValue>()
  })

  test('a result of any tool fits where a result of an unknown tool fits', () => {
    const show = (result: ToolResult): string => result.status
    const shown = (result: ToolResult<ProcessOutput>) => show(result)
    expect(shown).toBeTypeOf('function')
  })

  test('a result narrows by its status', () => {
    const read = (result: ToolResult<{ sum: number }>) => {
      switch (result.status) {
        case 'ok':
          expectTypeOf(result.output).toEqualTypeOf<{ sum: number }>()
          return
        case 'pending':
          expectTypeOf(result.ticket).toEqualTypeOf<string>()
          return
        default:
          expectTypeOf(result.reason).toEqualTypeOf<string>()
          expectTypeOf(result.output).toEqualTypeOf<JsonValue | undefined>()
      }
    }
    expect(read).toBeTypeOf('function')
  })

  test('a slip in a policy, a rule, an answer, an option or an event does not compile', () => {
    // @ts-expect-error -- filesytem
    const policy: PolicyInput = { filesytem: { read: [] } }
    // @ts-expect-error -- not a risk
    const risk: PolicyInput = { risk: 'hihg' }
    // @ts-expect-error -- a duration is a text
    const limits: PolicyInput = { limits: { wall: 30 } }
    // @ts-expect-error -- not a way to inject
    const credential: PolicyInput = { credentials: [{ id: 'a', inject: { host: 'a.org', as: 'barer' } }] }
    // @ts-expect-error -- not an effect
    const rule: RuleSetInput = { rules: [{ effect: 'alow', because: 'x' }] }
    // @ts-expect-error -- a rule says why
    const reason: RuleSetInput = { rules: [{ effect: 'deny', tool: 'x' }] }
    // @ts-expect-error -- an answer says who gives it
    const answer: ApprovalAnswer = { kind: 'approve_once' }
    // @ts-expect-error -- maxCalls
    const constrained = () => tool({ name: 'a', constraints: { maxCalls: 1 }, run: () => 1 })
    const options: Omit<CordonOptions, 'tools' | 'workspace'> = {
      // @ts-expect-error -- not a mode
      mode: 'yolo',
      // @ts-expect-error -- not an answer
      approve: () => 'yes',
      // @ts-expect-error -- not a decision
      hooks: [{ name: 'h', points: ['pre_tool_use'], run: () => ({ decision: 'maybe' }) }],
    }
    const listen = (cordon: Cordon) => {
      // @ts-expect-error -- not an event
      cordon.on('tool.caled', () => undefined)
      cordon.on('tool.called', ({ tool: name }) => {
        expectTypeOf(name).toEqualTypeOf<string>()
      })
    }
    expect([policy, risk, limits, credential, rule, reason, answer, constrained, options, listen]).toHaveLength(10)
  })

  test('tools of any kind fit where any tool fits', () => {
    const all: readonly ToolDefinition[] = [add, grep, plain]
    expect(all).toHaveLength(3)
  })
})

describe('results that JSON cannot carry', () => {
  const dated = tool({ name: 'dated', run: () => ({ at: new Date(0), name: 'a', none: undefined }) })
  const mapped = tool({ name: 'mapped', run: () => ({ byName: new Map([['a', 1]]) }) })
  const nothing = tool({ name: 'nothing', run: () => undefined })

  test('have the type that the caller gets, or never', () => {
    expect([dated, mapped, nothing].map(({ kind }) => kind)).toEqual(['function', 'function', 'function'])
    expectTypeOf<OutputOfTool<typeof dated>['at']>().toEqualTypeOf<string>()
    expectTypeOf<OutputOfTool<typeof dated>['name']>().toEqualTypeOf<string>()
    expectTypeOf<OutputOfTool<typeof mapped>['byName']>().toEqualTypeOf<never>()
    expectTypeOf<OutputOfTool<typeof nothing>>().toEqualTypeOf<null>()
  })
})
