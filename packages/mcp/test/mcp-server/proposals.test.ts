// A policy that a server proposes for its tool: it counts only if the user accepts it, and never beyond their bound.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnSync } from 'node:child_process'

import { describe, expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { CORDON, GATEWAY_ENVIRONMENT, folderWith, metaOf, openGateway, textOf } from '../mcp/gateway.js'

const SERVER = fileURLToPath(new URL('proposing-server.mjs', import.meta.url))
const CELL = ['--read', SERVER]

const READS_NOTES = { 'cordon:policy': { filesystem: { read: ['notes/**'] } } }
const READS_ALL = { 'cordon:policy': { filesystem: { read: ['./**'] } } }

interface Stage {
  readonly settings?: string
  readonly annotations: object
  readonly words?: readonly string[]
}

const open = async ({ settings, annotations, words = [] }: Stage, state = folderWith({})) => {
  const folder = folderWith({ 'notes/a.txt': 'a note', 'key.txt': 'a secret' })
  const config = folderWith({})
  mkdirSync(join(config, 'cordon'))
  if (settings !== undefined) writeFileSync(join(config, 'cordon', 'mcp.yaml'), settings)
  const variables = { XDG_CONFIG_HOME: config, XDG_STATE_HOME: state }
  const start = (offered: object) =>
    openGateway(
      folder,
      [...CELL, ...words, '--server', 'notes', '--', 'node', SERVER, JSON.stringify(offered)],
      {},
      undefined,
      variables,
    )
  const gateway = await start(annotations)
  const read = (path: string, { client } = gateway) =>
    client.callTool({ name: 'read', arguments: { path: join(folder, path) } })
  return { ...gateway, folder, variables, start, read }
}

const tools = (entry: string): string => `servers:\n  notes:\n    tools:\n      ${entry}\n`

describe('without a word of the user', () => {
  test.each([
    ['a policy', READS_NOTES],
    ['capabilities of sandlock', { 'sandlock:fs_readable': ['/'] }],
    ['hints', { readOnlyHint: true, destructiveHint: false, openWorldHint: false }],
  ])('a tool that proposes %s gets no policy', async (_, annotations) => {
    const { read } = await open({ annotations, words: ['--read', 'notes/**'] })
    expect(metaOf(await read('notes/a.txt'))).toMatchObject({ 'cordon/status': 'denied' })
  })

  test('the gateway names the proposal and the line that accepts it, and that line accepts it', async () => {
    const { read, stderr } = await open({ annotations: READS_NOTES })
    expect(metaOf(await read('notes/a.txt'))).toMatchObject({ 'cordon/error': 'approval-unavailable' })
    expect(stderr()).toContain('mcp-proposal-waiting')
    const [, line = ''] = /add to mcp\.yaml: (servers: .*)/.exec(stderr()) ?? []
    const accepted = await open({ annotations: READS_NOTES, settings: `${line}\n` })
    expect(textOf(await accepted.read('notes/a.txt'))).toBe('a note')
    expect(metaOf(await accepted.read('key.txt'))).toMatchObject({ 'cordon/status': 'denied' })
  })
})

describe('`proposed`', () => {
  test('accepts a proposal within the policy of the cell, and no other', async () => {
    const settings = tools('"*": proposed')
    const words = ['--read', 'notes/**']
    const within = await open({ settings, words, annotations: READS_NOTES })
    expect(textOf(await within.read('notes/a.txt'))).toBe('a note')
    const beyond = await open({ settings, words, annotations: READS_ALL })
    expect(metaOf(await beyond.read('notes/a.txt'))).toMatchObject({ 'cordon/status': 'denied' })
    expect(beyond.stderr()).toContain('mcp-proposal-beyond')
    expect(beyond.stderr()).toContain(`can read ${beyond.folder}`)
  })

  test('accepts a proposal within its own bound, and no other', IN_MATRIX, async () => {
    const settings = tools(
      'read: { proposed: { within: { filesystem: { read: [notes/**] }, limits: { wall: 30s } } } }',
    )
    const within = await open({ settings, annotations: READS_NOTES })
    expect(textOf(await within.read('notes/a.txt'))).toBe('a note')
    for (const annotations of [
      READS_ALL,
      { 'cordon:policy': { filesystem: { write: ['notes/**'] } } },
      { 'cordon:policy': { network: ['example.org'] } },
      { 'cordon:policy': { filesystem: { read: ['notes/**'] }, limits: { wall: '31s' } } },
      { 'sandlock:fs_readable': ['/'] },
    ]) {
      const beyond = await open({ settings, annotations })
      expect(metaOf(await beyond.read('notes/a.txt'))).toMatchObject({ 'cordon/status': 'denied' })
      expect(beyond.stderr()).toContain('mcp-proposal-beyond')
    }
  })

  test('does not widen what a policy of the user grants', IN_MATRIX, async () => {
    const settings = tools('read: { filesystem: { read: [notes/**] } }')
    const { read } = await open({ settings, annotations: READS_ALL })
    expect(textOf(await read('notes/a.txt'))).toBe('a note')
    expect(metaOf(await read('key.txt'))).toMatchObject({ 'cordon/status': 'denied' })
  })

  test.each([
    ['an unknown section', { 'cordon:policy': { netwrk: 'all' } }, 'netwrk'],
    ['an unknown key of Cordon', { 'cordon:grants': {} }, 'cordon:grants'],
    ['an unknown key of sandlock', { 'sandlock:max_memroy': '1G' }, 'max_memroy'],
    ['both at once', { ...READS_NOTES, 'sandlock:fs_readable': ['/usr'] }, 'side by side'],
    ['a very long one', { 'cordon:policy': { filesystem: { read: Array(600).fill('notes/**') } } }, 'characters'],
    ['no policy at all', { 'cordon:policy': 'all' }, 'mapping'],
  ])('refuses %s, and names it', async (_, annotations, named) => {
    const { read, stderr } = await open({ settings: tools('"*": proposed'), annotations, words: ['--read', '.'] })
    expect(metaOf(await read('notes/a.txt'))).toMatchObject({ 'cordon/status': 'denied' })
    expect(stderr()).toContain('mcp-proposal-unreadable')
    expect(stderr()).toContain(named)
  })

  test('keeps the gateway from starting if it is misspelt', async () => {
    const annotations = READS_NOTES
    await expect(open({ settings: tools('read: { proposed: { withn: {} } }'), annotations })).rejects.toThrow()
    await expect(open({ settings: tools('read: { proposed: {} }'), annotations })).rejects.toThrow()
  })
})

test('a changed proposal is held, and diff and trust name the line that accepts it', async () => {
  const settings = tools('"*": proposed')
  const { client, folder, start, variables } = await open({
    settings,
    annotations: READS_NOTES,
    words: ['--read', '.'],
  })
  await client.listTools()
  await client.close()
  const changed = await start(READS_ALL)
  expect((await changed.client.listTools()).tools).toEqual([])
  const cordon = (...words: readonly string[]) =>
    spawnSync(process.execPath, [CORDON, 'mcp', ...words], {
      cwd: folder,
      env: { ...GATEWAY_ENVIRONMENT, ...variables },
      encoding: 'utf8',
    }).stdout
  const line =
    'add to mcp.yaml: servers: {"notes":{"tools":{"read":{"proposed":{"within":{"filesystem":{"read":["./**"]}}}}}}}'
  const shown = cordon('diff', 'notes')
  expect(shown).toContain(line)
  const [, seen = ''] = /--seen (\w+)/.exec(shown) ?? []
  expect(cordon('trust', 'notes', '--seen', seen)).toContain(line)
})
