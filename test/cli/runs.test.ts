// A run of a team at the command line, and what a tool is registered to cost: on the folder of an embedded store.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, test } from 'vitest'

import { cordon, temporaryFolder } from './cordon.js'
import type { Ran } from './cordon.js'

const folder = temporaryFolder()
const as = (actor: string, ...words: readonly string[]): Ran => cordon([...words, '--store', join(folder, 'store'), '--as', actor])
const json = (ran: Ran): Readonly<Record<string, unknown>> => (ran.status === 0 ? (JSON.parse(ran.stdout) as Readonly<Record<string, unknown>>) : expect.fail(ran.stderr))
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
let plan = ''

beforeAll(() => {
  expect(as('ada', 'team', 'create', 'acme').status).toBe(0)
  for (const words of [['anna', 'operator'], ['bot', 'agent', 'operator']]) expect(as('ada', 'team', 'add', ...words).status).toBe(0)
  plan = file('plan.yaml', 'steps:\n  - build\n  - publish\n')
}, 120_000)

describe('cordon runs', () => {
  test('starts a run that waits among the approvals, is shown with its plan, and is approved by its hash, not by who started it', { timeout: 120_000 }, () => {
    const { id, planHash } = json(as('bot', 'runs', 'start', 'release 7', '--plan', plan, '--json')) as { readonly id: string; readonly planHash: string }
    expect(as('anna', 'approvals', 'list').stdout).toContain('run release 7')
    expect(as('anna', 'approvals', 'show', id).stdout).toContain('"publish"')
    const shown = as('anna', 'runs', 'show', id.slice(-12)).stdout
    for (const text of ['release 7, pending', '"publish"', planHash, 'no calls were made']) expect(shown).toContain(text)
    expect(as('bot', 'runs', 'approve', id, '--hash', planHash)).toMatchObject({ status: 1, stderr: expect.stringContaining('cannot decide it') as string })
    expect(as('anna', 'runs', 'approve', id, '--hash', `sha256:${'0'.repeat(64)}`).status).toBe(1)
    expect(as('anna', 'runs', 'approve', id, '--hash', planHash)).toMatchObject({ status: 0, stdout: `approved ${id}\n` })
    expect(as('ada', 'runs', 'list', '--status', 'approved').stdout).toContain('release 7')
    expect(json(as('bot', 'runs', 'cancel', id, '--reason', 'not today', '--json'))).toEqual({ id, status: 'cancelled' })
    expect(as('bot', 'runs', 'cancel', id)).toMatchObject({ status: 1, stderr: expect.stringContaining('is cancelled') as string })
  })

  test('is rejected with a reason, and understands no plan that is no mapping', { timeout: 120_000 }, () => {
    const { id } = json(as('bot', 'runs', 'start', 'cleanup', '--plan', plan, '--needed', '2', '--for', '8h', '--json')) as { readonly id: string }
    expect(as('anna', 'runs', 'reject', id).status).toBe(2)
    expect(as('anna', 'runs', 'reject', id, '--reason', 'why?')).toMatchObject({ status: 0, stdout: `rejected ${id}\n` })
    expect(as('bot', 'runs', 'start', 'cleanup', '--plan', file('list.yaml', '- a\n'))).toMatchObject({ status: 2, stderr: expect.stringContaining('not a mapping') as string })
    expect(as('bot', 'runs', 'start', 'cleanup').status).toBe(2)
    expect(as('bot', 'runs', 'list', '--status', 'open').status).toBe(2)
  })
})

test('cordon tools register takes what a call is expected to cost and its prices, and shows them', { timeout: 120_000 }, () => {
  const tool = (prices: string) => file('tool.yaml', `key: resize\negress_class: none\nexpected_cost: 0.02\nprices: ${prices}\n`)
  expect(json(as('ada', 'tools', 'register', tool('{ call: 0.01, cpu_second: 0.002 }'), '--json'))).toMatchObject({ expectedCost: 0.02, prices: { call: 0.01, cpu_second: 0.002 } })
  expect(as('ada', 'tools', 'show', 'resize').stdout).toMatch(/it costs 0.02[\s\S]*0.01 a call, 0.002 a cpu_second/)
  expect(as('ada', 'tools', 'register', tool('{ minute: 1 }'))).toMatchObject({ stderr: expect.stringContaining('minute') as string })
})
