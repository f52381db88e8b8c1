import { spawn } from 'node:child_process'

import { findLauncher } from './launcher.js'

export type HostCommandOutcome =
  | { readonly kind: 'exited'; readonly status: number; readonly output: Buffer }
  | { readonly kind: 'failed'; readonly problem: string }

const TIMEOUT_MS = 60_000
const MAX_BYTES = 1 << 20

/**
 * Runs a command of the operator on the host, outside of every cell, and returns its output. Its stderr is dropped: the
 * command is about a secret, and may print it.
 */
export const runOnHost = (
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  cwd = '/',
): Promise<HostCommandOutcome> =>
  new Promise((resolve) => {
    const [program = '', ...words] = argv
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'ignore'], env: { ...environment }, cwd })
    const pieces: Buffer[] = []
    let length = 0
    let problem: string | undefined
    const give = (outcome: HostCommandOutcome): void => {
      clearTimeout(timer)
      resolve(outcome)
    }
    const end = (because: string): void => {
      problem ??= because
      child.kill('SIGKILL')
      // A process that it left behind may hold the pipe open.
      child.stdout.destroy()
    }
    const timer = setTimeout(() => {
      end(`it took longer than ${TIMEOUT_MS / 1000} s`)
    }, TIMEOUT_MS)
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > MAX_BYTES) end(`it printed more than ${MAX_BYTES} bytes`)
      else pieces.push(chunk)
    })
    child.once('error', (error: NodeJS.ErrnoException) => {
      give({ kind: 'failed', problem: error.code ?? 'it could not be started' })
    })
    child.once('close', (status) => {
      const output = Buffer.concat(pieces)
      for (const piece of pieces) piece.fill(0)
      give(
        problem !== undefined || status === null
          ? { kind: 'failed', problem: problem ?? 'a signal ended it' }
          : { kind: 'exited', status, output },
      )
    })
  })

/**
 * Starts a program that outlives this process, with nothing of it: no variable, folder, stream, limit or umask, and in
 * a session of its own. Nothing is started where a limit cannot be left behind (native/front/alone.c).
 */
export const startAlone = (words: readonly string[]): void => {
  spawn(findLauncher(), ['alone', ...words], { cwd: '/', env: {}, stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref()
}
