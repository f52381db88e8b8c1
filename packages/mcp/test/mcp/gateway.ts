// `cordon mcp` as hosts start it: the built program, with the official client on its pipes.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'

import { CORDON as CORDON_PROGRAM, REPOSITORY } from '../../../../test/repository.js'
import { OWN_FOLDERS } from '../../../core/test/cli/own-folders.js'

const ROOT = REPOSITORY
export const CORDON = CORDON_PROGRAM
const MODULES = join(ROOT, 'node_modules')

export const serverScript = (name: string): string =>
  join(MODULES, '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js')

export const HOSTILE = fileURLToPath(new URL('hostile-server.mjs', import.meta.url))

/** Files below a new folder, by their names. It is removed when the test ends. */
export const folderWith = (files: Readonly<Record<string, string>>): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-mcp-')))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

/** The grants that a published server needs to start. */
export const STARTABLE = ['--read', `${MODULES}/**`, '--read', `${dirname(HOSTILE)}/**`]

export const GATEWAY_ENVIRONMENT = {
  PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
  HOME: tmpdir(),
  ...OWN_FOLDERS,
}

export interface Opened {
  readonly client: Client
  readonly stderr: () => string
}

export const openGateway = (cwd: string, words: readonly string[], ...asClient: AsClient): Promise<Opened> =>
  openProgram(cwd, [process.execPath, CORDON, 'mcp', ...STARTABLE, ...words], ...asClient)

type AsClient = Parameters<typeof openProgram> extends [string, readonly string[], ...infer Rest] ? Rest : never

/** A client of any MCP server, without Cordon too. */
export const openProgram = async (
  cwd: string,
  [command = '', ...args]: readonly string[],
  capabilities: ClientCapabilities = {},
  prepare: (client: Client) => void = () => undefined,
  variables: Readonly<Record<string, string>> = {},
): Promise<Opened> => {
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...GATEWAY_ENVIRONMENT, ...variables },
    cwd,
    stderr: 'pipe',
  })
  let said = ''
  transport.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  prepare(client)
  onTestFinished(() => client.close())
  await client.connect(transport).catch((error: unknown) => {
    throw new Error(`${String(error)}; stderr: ${said}`, { cause: error })
  })
  return { client, stderr: () => said }
}

interface Content {
  readonly type: string
  readonly text?: string
}

export const textOf = (result: unknown): string =>
  (result as { readonly content: readonly Content[] }).content.map(({ text = '' }) => text).join('')

export const metaOf = (result: unknown): unknown => (result as { readonly _meta?: unknown })._meta
