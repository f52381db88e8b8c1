// A plain child process, without a cell. Only the runtime's `runUnconfined` uses it.
import { spawn } from 'node:child_process'
import { constants, tmpdir } from 'node:os'

import { fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'

import { collect, interrupted } from '../call-result.js'
import type { Ending, ProcessResult } from '../call-result.js'
import { buildEnvironment } from '../plan/environment.js'
import { DEFAULT_OUTPUT_LIMIT } from '../plan/plan-limits.js'
import type { UnconfinedProfile } from '../plan/sandbox-profile.js'
import type { RunInput } from '../sandbox-interface.js'

interface PlainRequest extends Pick<RunInput, 'argv' | 'stdin' | 'signal' | 'onStdout' | 'onStderr'> {
  readonly boundary: Boundary
  readonly cwd: AbsolutePath
  readonly hostEnvironment: Readonly<Record<string, string>>
  readonly profile: UnconfinedProfile
}

/**
 * It gets the variables that a cell would give it. Of its limits, those of time and output are kept: its process group
 * is killed. Nothing else holds it.
 */
export const runPlainProcess = (request: PlainRequest): Promise<ProcessResult> =>
  new Promise((resolve, reject) => {
    const { argv, stdin, signal, onStdout, onStderr, boundary, cwd, hostEnvironment, profile } = request
    const { wall, output: mostBytes = DEFAULT_OUTPUT_LIMIT } = boundary.limits
    const [program = '', ...words] = argv
    const began = performance.now()
    const streams = { stdout: collect(onStdout), stderr: collect(onStderr) }
    let bytes = 0
    let limit: 'wall' | 'output' | undefined
    const child = spawn(program, words, {
      cwd,
      env: buildEnvironment(boundary, hostEnvironment, tmpdir() as AbsolutePath),
      detached: true,
      stdio: 'pipe',
    })
    const kill = (): void => {
      if (child.pid !== undefined) killGroup(child.pid)
      // A process that left the group may hold the pipes open.
      child.stdout.destroy()
      child.stderr.destroy()
    }
    const over = (reached: 'wall' | 'output') => () => {
      limit ??= reached
      kill()
    }
    const timer = wall === undefined ? undefined : setTimeout(over('wall'), wall)
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > mostBytes) over('output')()
        else streams[name].take(piece)
      })
    // It may not read its input.
    child.stdin.on('error', () => undefined).end(stdin)
    signal?.addEventListener('abort', kill, { once: true })
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', kill)
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      done()
      reject(notStarted(program, error))
    })
    child.once('close', (code, name) => {
      done()
      kill()
      const result: ProcessResult = {
        ...endingOf(code, name, limit),
        stdout: streams.stdout.bytes(),
        stderr: streams.stderr.bytes(),
        profile,
        violations: limit === 'output' ? [{ kind: 'output', effect: 'ended', limit: mostBytes, used: bytes }] : [],
        usage: { wallMs: performance.now() - began, cpuMs: 0, maxResidentBytes: 0, peakMemoryBytes: undefined },
      }
      if (signal?.aborted === true) reject(interrupted(fail('cancelled', {}, signal.reason), result))
      else resolve(result)
    })
  })

const killGroup = (group: number): void => {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // Its last process has ended.
  }
}

const endingOf = (code: number | null, name: NodeJS.Signals | null, limit: 'wall' | 'output' | undefined): Ending => {
  if (limit !== undefined) return { status: 'limit', limit, signal: constants.signals.SIGKILL }
  return code === null
    ? { status: 'signaled', signal: constants.signals[name ?? 'SIGKILL'] }
    : { status: 'exited', exitCode: code }
}

const notStarted = (program: string, { code = '' }: NodeJS.ErrnoException) =>
  code === 'ENOENT'
    ? fail('program-not-found', { program, fix: 'give its path, or a name in the PATH of the system' })
    : fail('program-not-executable', { program, problem: code, fix: 'name a program that this user may execute' })
