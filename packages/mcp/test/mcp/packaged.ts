// A project whose servers come from packages, with its own caches, settings and log.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { CORDON, GATEWAY_ENVIRONMENT, STARTABLE, folderWith, openGateway, textOf } from './gateway.js'

export interface Lock {
  readonly format: string
  readonly packages: Record<
    string,
    { version: string; integrity: string; tree: Record<string, Record<string, unknown>> }
  >
}

interface PackagedProject {
  readonly folder: string
  readonly variables: Readonly<Record<'HOME' | 'XDG_CACHE_HOME' | 'XDG_CONFIG_HOME' | 'XDG_STATE_HOME', string>>
  readonly lockPath: string
  /** Where packages are installed. */
  readonly installed: string
  /** The answer of its tool. */
  readonly call: (words: readonly string[], options?: readonly string[]) => Promise<string>
  /** Runs `cordon` until it ends. */
  readonly cordon: (words: readonly string[]) => Promise<{ status: number | null; stdout: string; stderr: string }>
  /** A gateway that goes on. */
  readonly start: (words: readonly string[]) => ChildProcess
  readonly gatewayWords: (words: readonly string[]) => readonly string[]
  readonly lock: () => Lock
  readonly folders: () => readonly string[]
  readonly log: () => string
}

/** `home` has the configuration of the package manager. */
export const packagedProject = (home: string, files: Readonly<Record<string, string>> = {}): PackagedProject => {
  const folder = folderWith({ 'tools.yaml': '"*": server\n', '.cordon/.keep': '', ...files })
  const own = folderWith({})
  const variables = {
    HOME: home,
    XDG_CACHE_HOME: join(own, 'cache'),
    XDG_CONFIG_HOME: join(own, 'config'),
    XDG_STATE_HOME: join(own, 'state'),
  }
  const open = (words: readonly string[], options: readonly string[] = []) =>
    openGateway(folder, ['--tools', 'tools.yaml', ...options, '--', ...words], {}, undefined, variables)
  const installed = join(own, 'cache', 'cordon', 'mcp')
  const lockPath = join(folder, '.cordon', 'mcp.lock')
  return {
    folder,
    variables,
    lockPath,
    installed,
    call: async (words, options = []) => {
      const { client } = await open(words, options)
      const answer = textOf(await client.callTool({ name: 'tell', arguments: {} }))
      await client.close()
      return answer
    },
    cordon: (words) =>
      new Promise((resolve) => {
        const environment = { ...GATEWAY_ENVIRONMENT, ...variables }
        const child = spawn(process.execPath, [CORDON, ...words], { cwd: folder, env: environment })
        const said = { stdout: '', stderr: '' }
        child.stdout.on('data', (bytes: Buffer) => (said.stdout += bytes.toString()))
        child.stderr.on('data', (bytes: Buffer) => (said.stderr += bytes.toString()))
        child.stdin.end()
        child.on('close', (status) => {
          resolve({ status, ...said })
        })
      }),
    start: (words) =>
      spawn(process.execPath, [CORDON, 'mcp', ...STARTABLE, '--', ...words], {
        cwd: folder,
        env: { ...GATEWAY_ENVIRONMENT, ...variables },
      }),
    gatewayWords: (words) => ['mcp', ...STARTABLE, '--', ...words],
    lock: () => JSON.parse(readFileSync(lockPath, 'utf8')) as Lock,
    folders: () => (existsSync(installed) ? readdirSync(installed) : []),
    log: () => readFileSync(join(own, 'state', 'cordon', 'audit.jsonl'), 'utf8'),
  }
}
