// A project whose servers come from packages, with its own caches, settings and log.
import { spawn } from 'node:child_process'
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

/** `home` has the configuration of the package manager. */
export const packagedProject = (home: string, files: Readonly<Record<string, string>> = {}) => {
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
    ...{ folder, variables, open, lockPath, installed },
    /** The answer of its tool. */
    call: async (words: readonly string[], options: readonly string[] = []): Promise<string> => {
      const { client } = await open(words, options)
      const answer = textOf(await client.callTool({ name: 'tell', arguments: {} }))
      await client.close()
      return answer
    },
    /** Runs `cordon` until it ends. */
    cordon: (words: readonly string[]): Promise<{ status: number | null; stdout: string; stderr: string }> =>
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
    start: (words: readonly string[]) =>
      spawn(process.execPath, [CORDON, 'mcp', ...STARTABLE, '--', ...words], {
        cwd: folder,
        env: { ...GATEWAY_ENVIRONMENT, ...variables },
      }),
    gatewayWords: (words: readonly string[]): readonly string[] => ['mcp', ...STARTABLE, '--', ...words],
    lock: () => JSON.parse(readFileSync(lockPath, 'utf8')) as Lock,
    folders: () => (existsSync(installed) ? readdirSync(installed) : []),
    log: () => readFileSync(join(own, 'state', 'cordon', 'audit.jsonl'), 'utf8'),
  }
}
