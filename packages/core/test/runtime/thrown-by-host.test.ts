// What code of the host throws may name hosts and files. The operator reads it, the model does not.
import { describe, expect, test } from 'vitest'

import { processTool, toModel } from '../../src/runtime/index.js'
import type { CordonOptions, ToolDefinition } from '../../src/runtime/index.js'

import { openStage } from './stage.js'

const stage = openStage()
const SECRET = 'connect ECONNREFUSED db.internal:5432 (/srv/agent/approvals.sock)'
const explode = (): never => {
  throw new Error(SECRET)
}

const throwing = {
  'an approver': {
    tools: [processTool({ name: 'act', policy: { risk: 'high' }, command: () => ['true'] })],
    mode: 'default',
    approve: explode,
  },
  'a command': { tools: [processTool({ name: 'act', command: explode })] },
  'a schema': {
    tools: [
      processTool({
        name: 'act',
        input: { '~standard': { version: 1, vendor: 'own', validate: explode } },
        command: () => ['true'],
      }) as ToolDefinition,
    ],
  },
  'a hook': {
    tools: [processTool({ name: 'act', command: () => ['true'] })],
    hooks: [{ name: 'check', points: ['pre_tool_use'], run: explode }],
  },
} satisfies Record<string, Partial<CordonOptions>>

describe.each(Object.entries(throwing))('an error of %s', (_, options) => {
  test('reaches the operator, and not the model', async () => {
    const cordon = await stage.cordon(options)
    const result = await cordon.call('act', {})
    expect(result.status).toBe('denied')
    expect(JSON.stringify([result.reason, toModel(result), result.facts.permission_decision.agent_reason])).not.toMatch(
      /internal|5432|srv/,
    )
    expect(result.facts.error?.message).toContain(SECRET)
  })
})

test('a denial that an approver gives with a reason does reach the model', async () => {
  const cordon = await stage.cordon({
    ...throwing['an approver'],
    approve: () => ({ kind: 'deny', by: 'ann', reason: 'not on a Friday' }),
  })
  expect((await cordon.call('act')).reason).toContain('not on a Friday')
})
