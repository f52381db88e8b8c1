// Where clients of MCP servers list them. One line for each file of each client.
import { join } from 'node:path'

import type { Environment } from 'cordon/commands'

export type Scope = 'user' | 'project'

/** One file in which a client lists servers. */
export interface ClientFile {
  readonly client: string
  readonly scope: Scope
  readonly path: string
  readonly format: 'json' | 'toml'
  /** Where the mapping from names to servers is in it. `*` stands for every key. */
  readonly places: readonly (readonly string[])[]
}

export const CLIENTS = ['claude-desktop', 'claude-code', 'cursor', 'vscode', 'codex', 'gemini'] as const

const SERVERS = [['mcpServers']]

export const clientFiles = ({
  home,
  workspace,
  environment,
}: Readonly<{ home: string; workspace: string; environment: Environment }>): readonly ClientFile[] => {
  const { XDG_CONFIG_HOME: config, CODEX_HOME: codex, CLAUDE_CONFIG_DIR: claude } = environment
  const configFolder = isAbsolute(config) ? config : join(home, '.config')
  const user = (client: string, path: string, places = SERVERS): ClientFile => ({
    client,
    scope: 'user',
    path,
    format: path.endsWith('.toml') ? 'toml' : 'json',
    places,
  })
  const project = (client: string, path: string, places = SERVERS): ClientFile => ({
    ...user(client, join(workspace, path), places),
    scope: 'project',
  })
  return [
    user('claude-desktop', join(configFolder, 'Claude', 'claude_desktop_config.json')),
    user('claude-code', join(isAbsolute(claude) ? claude : home, '.claude.json'), [
      ['mcpServers'],
      ['projects', '*', 'mcpServers'],
    ]),
    project('claude-code', '.mcp.json'),
    user('cursor', join(home, '.cursor', 'mcp.json')),
    project('cursor', join('.cursor', 'mcp.json')),
    user('vscode', join(configFolder, 'Code', 'User', 'mcp.json'), [['servers']]),
    project('vscode', join('.vscode', 'mcp.json'), [['servers']]),
    user('codex', join(isAbsolute(codex) ? codex : join(home, '.codex'), 'config.toml'), [['mcp_servers']]),
    project('codex', join('.codex', 'config.toml'), [['mcp_servers']]),
    user('gemini', join(home, '.gemini', 'settings.json')),
    project('gemini', join('.gemini', 'settings.json')),
  ]
}

const isAbsolute = (path: string | undefined): path is string => path?.startsWith('/') === true
