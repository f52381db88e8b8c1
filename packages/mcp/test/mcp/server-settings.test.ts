// mcp.yaml gives servers and their tools their policies. The file of a project counts only if the user trusts it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { folderWith, metaOf, openGateway, serverScript, textOf } from './gateway.js'

const SETTINGS = `
servers:
  fi*:
    tools:
      read_*: { filesystem: { read: [data/**] } }
      list_directory: { filesystem: { read: [data/**] } }
`

const stage = (files: Readonly<Record<string, string>>) => {
  const folder = folderWith({ 'data/a.txt': 'in data', 'other/b.txt': 'elsewhere', ...files })
  const config = folderWith({})
  mkdirSync(join(config, 'cordon'))
  return {
    folder,
    ofUser: (name: string, text: string) => {
      writeFileSync(join(config, 'cordon', name), text)
    },
    open: (...words: readonly string[]) =>
      openGateway(
        folder,
        [...words, '--server', 'files', '--', 'node', serverScript('filesystem'), folder],
        {},
        undefined,
        { XDG_CONFIG_HOME: config },
      ),
  }
}

const read = async ({ client }: Awaited<ReturnType<typeof openGateway>>, path: string) =>
  client.callTool({ name: 'read_text_file', arguments: { path } })

describe('.cordon/mcp.yaml', () => {
  test('of a trusted project gives tools their policies, and no others', async () => {
    const { folder, ofUser, open } = stage({ '.cordon/mcp.yaml': SETTINGS })
    ofUser('rules.yaml', `trusted_projects: ["${folder}"]\n`)
    const gateway = await open()
    expect(textOf(await read(gateway, join(folder, 'data/a.txt')))).toBe('in data')
    expect(metaOf(await read(gateway, join(folder, 'other/b.txt')))).toMatchObject({ 'cordon/status': 'denied' })
    const written = { name: 'write_file', arguments: { path: join(folder, 'data/new'), content: '' } }
    expect(metaOf(await gateway.client.callTool(written))).toMatchObject({
      'cordon/status': 'denied',
    })
  })

  test('of another project grants nothing, and the gateway says how to trust it', async () => {
    const { folder, open } = stage({ '.cordon/mcp.yaml': SETTINGS })
    const gateway = await open('--read', 'data/**')
    expect(metaOf(await read(gateway, join(folder, 'data/a.txt')))).toMatchObject({
      'cordon/status': 'denied',
    })
    expect(gateway.stderr()).toContain(`trusted_projects: [${folder}]`)
  })
})

describe('mcp.yaml of the user', () => {
  test('counts everywhere, and --tools counts before it', async () => {
    const { folder, ofUser, open } = stage({ 'tools.yaml': 'read_text_file: { filesystem: { read: [other/**] } }\n' })
    ofUser('mcp.yaml', SETTINGS)
    const gateway = await open()
    expect(textOf(await read(gateway, join(folder, 'data/a.txt')))).toBe('in data')
    await gateway.client.close()
    const narrowed = await open('--tools', 'tools.yaml')
    expect(textOf(await read(narrowed, join(folder, 'other/b.txt')))).toBe('elsewhere')
    expect(metaOf(await read(narrowed, join(folder, 'data/a.txt')))).toMatchObject({ 'cordon/status': 'denied' })
  })

  test('with an unknown key keeps the gateway from starting, and names file and line', async () => {
    const { ofUser, open } = stage({})
    ofUser('mcp.yaml', 'servers:\n  files:\n    tool: {}\n')
    await expect(open()).rejects.toThrow()
  })

  test('for a server of another name is said at the start, and for this one nothing is said', async () => {
    const { ofUser, open } = stage({})
    ofUser('mcp.yaml', 'servers: { flies: { tools: { "*": server } } }\n')
    const gateway = await open()
    expect(gateway.stderr()).toContain('no settings for the server "files", but for flies; did you mean "flies"?')
    await gateway.client.close()
    ofUser('mcp.yaml', SETTINGS)
    expect((await open()).stderr()).not.toContain('no settings')
  })
})

test('a line of --tools for a server that does not exist is said at the start, and its twin is not', async () => {
  const { folder } = stage({
    'tools.yaml': 'files__read_*: server\nfile_read: server\n"*": server\n',
    'servers.json': JSON.stringify({
      mcpServers: Object.fromEntries(
        ['files', 'more'].map((name) => [name, { command: 'node', args: [serverScript('filesystem'), '.'] }]),
      ),
    }),
  })
  const gateway = await openGateway(folder, ['--tools', 'tools.yaml', '--config', 'servers.json', '--read', '.'])
  const said = gateway.stderr()
  expect(said).toMatch(/tools\.yaml:2[^\n]*"file_read" is for no server of this gateway/)
  expect(said).not.toMatch(/"files__read_\*"|"\*" is for/)
})
