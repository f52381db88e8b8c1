// A sandbox for a `Workspace` of Mastra (package `@mastra/core`, version 1). Nothing of the SDK is loaded. What a cell
// cannot give and Mastra takes for optional is left out: `processes`, `networking`, `mount`, `computer`, `clone`.
import { randomUUID } from 'node:crypto'

import { quotedWord } from 'cordon/runtime'
import { openCells, unsupported } from './cells.js'
import type { CellOptions } from './cells.js'

export type { CellOptions }

/** `WorkspaceSandbox` of Mastra, whose package needs a newer Node than Cordon. */
export interface MastraSandbox {
  readonly id: string
  readonly name: string
  readonly provider: string
  status: 'running' | 'destroyed'
  readonly getInstructions: () => string
  readonly executeCommand: (command: string, args?: string[], options?: MastraCommandOptions) => Promise<MastraResult>
  readonly writeFiles: (files: MastraFile[], options?: { abortSignal?: AbortSignal }) => Promise<void>
  readonly snapshot: () => Promise<void>
  readonly destroy: () => Promise<void>
}

export interface MastraCommandOptions {
  timeout?: number
  env?: Record<string, string | undefined>
  cwd?: string
  onStdout?: (data: string) => void
  onStderr?: (data: string) => void
  abortSignal?: AbortSignal
}

export interface MastraFile {
  path: string
  content: string | Uint8Array
  mode?: number
}

export interface MastraResult {
  success: boolean
  exitCode: number
  stdout: string
  stderr: string
  executionTimeMs: number
  timedOut?: boolean
  killed?: boolean
  command: string
  args: string[]
}

/** As `timeout` of coreutils. */
const TIMED_OUT = 124

export const mastraSandbox = async (options: CellOptions): Promise<MastraSandbox> => {
  const cells = await openCells(options)
  const sandbox: MastraSandbox = {
    id: randomUUID(),
    name: 'Cordon',
    provider: 'cordon',
    status: 'running',
    getInstructions: () =>
      `Commands run with bash in ${cells.workspace}, each in a cell of its own. Nothing keeps running after its command.`,
    executeCommand: async (command, args = [], given = {}) => {
      const started = Date.now()
      const ended = { command, args, executionTimeMs: 0 }
      const { cwd, env, abortSignal, timeout } = given
      const over = timeout === undefined ? undefined : AbortSignal.timeout(timeout)
      const signals = [over, abortSignal].filter((each) => each !== undefined)
      try {
        const { exitCode, ...texts } = await cells.run({
          command: [command, ...args.map(quotedWord)].join(' '),
          cwd,
          env,
          signal: AbortSignal.any(signals),
          onOutput: (stream, bytes) => {
            const told = stream === 'stdout' ? given.onStdout : given.onStderr
            told?.(Buffer.from(bytes).toString())
          },
        })
        return { ...ended, ...texts, success: exitCode === 0, exitCode, executionTimeMs: Date.now() - started }
      } catch (error) {
        if (over?.aborted !== true) throw error
        const none = { success: false, exitCode: TIMED_OUT, stdout: '', stderr: '', timedOut: true, killed: true }
        return { ...ended, ...none, executionTimeMs: Date.now() - started }
      }
    },
    writeFiles: async (files, { abortSignal } = {}) => {
      for (const { path, content, mode } of files) {
        if (mode !== undefined) throw unsupported('file with a mode of its own', 'run chmod in a command')
        await cells.writeFile(path, Buffer.from(content as string), abortSignal)
      }
    },
    snapshot: () => Promise.reject(unsupported('snapshot', 'its files are those of the workspace: copy them yourself')),
    destroy: async () => {
      sandbox.status = 'destroyed'
      await cells.close()
    },
  }
  return sandbox
}
