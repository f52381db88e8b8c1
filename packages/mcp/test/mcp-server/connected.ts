// A server of either version of the official SDK, with sandboxed tools, and the official client.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer as McpServer1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpServer as McpServer2 } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'

import { sandboxSettings } from '../../src/server/index.js'
import type { SandboxSettings, ToolRegistrar } from '../../src/server/index.js'
import { folderWith } from '../mcp/gateway.js'

const INFO = { name: 'test', version: '1' }

export const SERVERS = [
  ['@modelcontextprotocol/sdk 1', () => new McpServer1(INFO)],
  ['@modelcontextprotocol/server 2', () => new McpServer2(INFO)],
] as const

export interface Connected {
  readonly client: Client
  readonly workspace: string
  /** For the operator: tool and code. */
  readonly troubles: readonly string[]
}

export const connect = async (
  server: McpServer1 | McpServer2,
  register: (server: ToolRegistrar) => void,
  settings: SandboxSettings = {},
): Promise<Connected> => {
  const workspace = folderWith({ 'notes/a.txt': 'a note', 'key.txt': 'a secret' })
  mkdirSync(join(workspace, 'drafts'))
  const troubles: string[] = []
  sandboxSettings(server, {
    workspace,
    onTrouble: ({ code }, tool) => {
      troubles.push(`${tool}: ${code}`)
    },
    ...settings,
  })
  register(server)
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const client = new Client(INFO)
  onTestFinished(() => client.close())
  await Promise.all([server.connect(theirs as never), client.connect(ours)])
  return { client, workspace, troubles }
}
