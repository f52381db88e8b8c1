// A runtime whose books are at a server: what its tools may not touch, and that it needs no more than a token.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { createCordon, processTool } from '../../src/runtime/index.js'

import { openStage } from './stage.js'
import type { Stage } from './stage.js'

const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-books-')))
const store = join(workspace, 'store')
let stage: Stage

beforeAll(async () => {
  // As `cordon serve` lays it out: the socket beside what it serves.
  mkdirSync(join(store, 'data'), { recursive: true })
  writeFileSync(join(store, 'data', 'PG_VERSION'), '18\n')
  writeFileSync(join(workspace, 'other.txt'), 'other\n')
  stage = await openStage({ socket: join(store, 'socket') })
  const ada = stage.as('ada')
  await ada.ask('registerTool', { team: 'acme', key: 'look', egressClass: 'none', requiresApproval: false })
  await ada.ask('assignTool', { team: 'acme', tool: 'look', agent: 'agent-1' })
})
afterAll(async () => {
  await stage.close()
  rmSync(workspace, { recursive: true, force: true })
})

const look = (write: string, script: string) => ({
  workspace,
  registry: { server: `unix:${join(store, 'socket')}`, owner: 'acme', agent: 'agent-1', runner: 'app' },
  rules: [{ rules: [{ effect: 'allow' as const, tool: ['look'], because: 'the registry decides' }] }],
  tools: [processTool({ name: 'look', description: 'looks', input: { type: 'object' }, policy: { filesystem: { write: [write] } }, command: () => ['sh', '-c', script] })],
})

test('a tool that may write to the workspace finds neither the socket nor the data of the store in it', async () => {
  const cordon = await createCordon(look('.', 'cat other.txt; ls -A store; cat store/data/PG_VERSION; test -S store/socket && echo socket; echo changed > store/data/PG_VERSION; true'))
  try {
    const { status, output } = await cordon.call('look', {})
    expect(status).toBe('ok')
    expect(JSON.stringify(output)).toContain('other')
    expect(JSON.stringify(output)).not.toMatch(/18|socket/)
    expect(readFileSync(join(store, 'data', 'PG_VERSION'), 'utf8')).toBe('18\n')
  } finally {
    await cordon.close()
  }
})

test('a tool whose grant begins in the store is refused', async () => {
  await expect(createCordon(look('store/data', 'true'))).rejects.toMatchObject({ code: 'store-exposed' })
})
