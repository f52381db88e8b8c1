// `cordon mcp --manifest`: servers and their tools are held against the manifest of their project.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { cordon as commandLine } from '../../../core/test/cli/cordon.js'
import { CORDON, HOSTILE, folderWith, metaOf, openProgram, textOf } from './gateway.js'

const SERVERS = (
  command: readonly string[] = ['node', HOSTILE],
  env: Readonly<Record<string, string>> = { PIN: '1' },
) => JSON.stringify({ mcpServers: { odd: { command: command[0], args: command.slice(1), env } } })

const settings = (of: Readonly<Record<string, string>> = {}): string => `
servers:
  odd:
    policy: { filesystem: { read: ["${dirname(HOSTILE)}/**"${of['read'] ?? ''}] } }
    ${of['more'] ?? ''}
    tools:
      ${of['first'] ?? ''}
      save: { filesystem: { write: [${of['save'] ?? 'a/**'}] } }
      echo: server
`

/** A project whose manifest was written with these servers and settings. */
const reviewed = (servers = SERVERS(), written = settings()) => {
  const folder = folderWith({
    'cordon.config.json': '{ "mcp": ["servers.json"] }',
    'servers.json': servers,
    '.cordon/mcp.yaml': written,
    'a/f': '',
    'a/one': '',
    'b/f': '',
  })
  const config = folderWith({})
  mkdirSync(join(config, 'cordon'))
  writeFileSync(join(config, 'cordon', 'rules.yaml'), `trusted_projects: ["${folder}"]\n`)
  const environment = { HOME: '/var/empty', XDG_CONFIG_HOME: config, CORDON_AUDIT: join(config, 'audit.jsonl') }
  const cordon = (...words: readonly string[]) => commandLine(words, { cwd: folder, environment })
  const { status, stderr } = cordon('manifest', 'generate')
  if (status !== 0) throw new Error(stderr)
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text)
  }
  const HELD = ['--manifest', 'cordon.manifest.json']
  const open = (words: readonly string[] = ['--config', 'servers.json'], variables = {}) =>
    openProgram(folder, [process.execPath, CORDON, 'mcp', ...HELD, ...words], {}, undefined, {
      ...environment,
      ...variables,
    })
  const refusal = async (words?: readonly string[], variables?: Readonly<Record<string, string>>): Promise<string> => {
    const said = await open(words, variables).then(
      () => 'it was not refused',
      (error: unknown) => String(error),
    )
    expect(said).toContain('manifest-exceeded')
    return said
  }
  return {
    folder,
    write,
    open,
    refusal,
    cordon,
    text: () => readFileSync(join(folder, 'cordon.manifest.json'), 'utf8'),
  }
}

describe('a server within the manifest', () => {
  test('starts, its tools run, and cordon why says so', async () => {
    const { open, cordon, text } = reviewed()
    const { client } = await open()
    expect(textOf(await client.callTool({ name: 'save', arguments: { path: 'a/new' } }))).toContain('saved')
    expect(textOf(await client.callTool({ name: 'echo', arguments: { words: 'hello' } }))).toBe('hello')
    await client.close()
    const { hash } = JSON.parse(text()) as { readonly hash: string }
    expect(cordon('why', 'last').stdout).toContain(`within cordon.manifest.json (${hash})`)
  })

  test('may have less, and may stand in a client file behind cordon mcp', async () => {
    const behind = ['cordon', 'mcp', '--server=odd', '--env=PIN', '--', 'node', HOSTILE]
    const { write, open, refusal } = reviewed(SERVERS(behind))
    write('.cordon/mcp.yaml', settings({ save: 'a/one' }))
    const words = ['--server=odd', '--env=PIN', '--', 'node', HOSTILE]
    const { client } = await open(words, { PIN: '1' })
    expect(textOf(await client.callTool({ name: 'save', arguments: { path: 'a/one' } }))).toContain('saved')
    await client.close()
    expect(await refusal(words, { PIN: '2' })).toContain('PIN')
  })
})

describe('a server beyond the manifest does not start', () => {
  test.each([
    ['an unlisted one', ['--server', 'other', '--', 'node', HOSTILE], 'does not list it'],
    ['one with other words', ['--server', 'odd', '--', 'node', HOSTILE, 'more'], 'now another one'],
    ['one with another grant', ['--config', 'servers.json', '--read', '/etc'], '/etc'],
    ['one that may ask its client', ['--config', 'servers.json', '--allow', 'sampling'], 'sampling'],
    ['one that serves HTTP', ['--config', 'servers.json', '--publish', '3000'], '3000'],
  ])('%s', async (_, words, because) => {
    expect(await reviewed().refusal(words)).toContain(because)
  })

  test('one with other variables or settings', async () => {
    const { write, refusal, open } = reviewed()
    write('servers.json', SERVERS(undefined, { PIN: '2' }))
    expect(await refusal()).toContain('PIN')
    write('servers.json', SERVERS(undefined, {}))
    write('.cordon/mcp.yaml', settings({ read: ', /etc' }))
    expect(await refusal()).toContain('/etc')
    write('.cordon/mcp.yaml', settings())
    await (await open()).client.close()
  })
})

test('a remote server whose tools have policies is within its manifest, and one elsewhere is not', async () => {
  const at = (url: string): string => JSON.stringify({ mcpServers: { odd: { url } } })
  const { write, open, refusal } = reviewed(at('https://mcp.test/mcp'))
  // Nobody answers there.
  await expect(open()).rejects.not.toThrow('manifest-exceeded')
  write('servers.json', at('https://elsewhere.test/mcp'))
  await refusal()
})

test('a tool beyond its policy in the manifest is refused, and the others run', async () => {
  const { write, open } = reviewed(
    SERVERS(),
    settings({ more: 'allow: []', first: 'keep: { filesystem: { write: [b/**] } }' }),
  )
  // The cell has the same grants, because another tool gets them.
  write('.cordon/mcp.yaml', settings({ save: 'a/**, b/**' }))
  const { client } = await open()
  const refused = await client.callTool({ name: 'save', arguments: { path: 'b/new' } })
  expect(metaOf(refused)).toMatchObject({ 'cordon/error': 'manifest-exceeded' })
  expect(textOf(await client.callTool({ name: 'echo', arguments: { words: 'hello' } }))).toBe('hello')
})

test('a server cannot change the manifest, and changes other files that it may write', async () => {
  const written = settings({ save: '"**"' })
  const { open, folder } = reviewed(SERVERS(), written)
  const before = readFileSync(join(folder, 'cordon.manifest.json'), 'utf8')
  const { client } = await open()
  await client.callTool({ name: 'save', arguments: { path: 'cordon.manifest.json' } })
  expect(textOf(await client.callTool({ name: 'save', arguments: { path: 'b/new' } }))).toContain('saved')
  expect(readFileSync(join(folder, 'cordon.manifest.json'), 'utf8')).toBe(before)
})
