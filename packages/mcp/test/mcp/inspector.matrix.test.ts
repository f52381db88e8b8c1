// The command line of the MCP Inspector, as a client of the gateway.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { beforeEach, expect, test } from 'vitest'

import { MCP_PACKAGES, mcpModules, newerNode } from '../../../../scripts/tests/mcp-programs.mjs'
import { needs } from '../../../../test/requirement.js'
import { CORDON, GATEWAY_ENVIRONMENT, STARTABLE, folderWith, serverScript } from './gateway.js'
import { listening } from './listening.js'

const INSPECTOR = mcpModules('inspector')
const NODE = newerNode()

beforeEach((context) => {
  needs(context, INSPECTOR !== undefined, `npm did not install ${MCP_PACKAGES.inspector}`)
  needs(context, NODE !== undefined, `npm did not install ${MCP_PACKAGES.node}`)
})

/** Returns what it prints, as JSON. */
const inspect = async (folder: string, words: readonly string[]): Promise<unknown> => {
  const program = join(INSPECTOR ?? '', '@modelcontextprotocol/inspector/clients/launcher/build/index.js')
  const { stdout } = await promisify(execFile)(NODE ?? '', [program, '--cli', ...words], {
    cwd: folder,
    env: { ...GATEWAY_ENVIRONMENT, HOME: folder, MCP_INSPECTOR_SECRET_STORE: 'memory' },
  })
  return JSON.parse(stdout)
}

const callEcho = (...pair: readonly [string, string]): readonly string[] => [
  ...['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', pair.join('=')],
]

test('it lists and calls tools of a server on pipes', async () => {
  const words = [CORDON, 'mcp', ...STARTABLE, '--tools', 'tools.yaml', '--', 'node', serverScript('everything')]
  const folder = folderWith({
    'tools.yaml': 'echo: {}\n',
    'mcp.json': JSON.stringify({ mcpServers: { every: { command: process.execPath, args: words } } }),
  })
  const chosen = ['--config', 'mcp.json', '--server', 'every']
  const { tools } = (await inspect(folder, [...chosen, '--method', 'tools/list'])) as { tools: readonly unknown[] }
  expect(tools).toContainEqual(expect.objectContaining({ name: 'echo' }))
  expect(await inspect(folder, [...chosen, ...callEcho('message', 'hi')])).toEqual({
    content: [{ type: 'text', text: 'Echo: hi' }],
  })
})

test('it calls a tool over HTTP with the token of the gateway, and not with another', async () => {
  const folder = folderWith({})
  const token = join(folder, 'token')
  writeFileSync(token, 'a'.repeat(64), { mode: 0o600 })
  const url = await listening('both', ['--token', token])
  const call = (sent: string) =>
    inspect(folder, [url, '--header', `Authorization: Bearer ${sent}`, ...callEcho('said', 'hi')])
  expect(await call('a'.repeat(64))).toMatchObject({ content: [{ type: 'text', text: 'hi' }] })
  await expect(call('b'.repeat(64))).rejects.toThrow('auth_required')
})
