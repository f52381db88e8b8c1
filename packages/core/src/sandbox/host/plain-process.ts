// Runs one program outside of a cell, with limits of time and output, which this process holds itself.
import { spawn } from 'node:child_process'
import { constants, tmpdir } from 'node:os'

import { codeOf, fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'
import { monotonicMs } from '../../shapes/index.js'

import { collect, interrupted } from '../call-result.js'
import type { Ending, ProcessResult } from '../call-result.js'
import { bytesOf } from '../launch/run-in-cell.js'
import { buildEnvironment } from '../plan/environment.js'
import { DEFAULT_OUTPUT_LIMIT } from '../plan/plan-supervision.js'
import type { UnconfinedProfile } from '../plan/sandbox-profile.js'
import type { RunInput } from '../sandbox-interface.js'
import type { LimitKind } from '../result/violations.js'

interface PlainRequest extends Pick<RunInput, 'argv' | 'stdin' | 'signal' | 'onStdout' | 'onStderr'> {
  readonly boundary: Boundary
  readonly cwd: AbsolutePath
  readonly hostEnvironment: Readonly<Record<string, string>>
  readonly profile: UnconfinedProfile
}

/**
 * A plain child process. Only the runtime's `runUnconfined` uses it.
 *
 * It gets the variables that a cell would give it. Of its limits, those of time and output are kept: its process group
 * is killed. Nothing else holds it.
 */
export const runPlainProcess = async (request: PlainRequest): Promise<ProcessResult> => {
  const { argv, stdin, signal, onStdout, onStderr, boundary, cwd, hostEnvironment, profile } = request
  const { wall, output = DEFAULT_OUTPUT_LIMIT } = boundary.limits
  const environment = buildEnvironment(boundary, hostEnvironment, tmpdir() as AbsolutePath)
  const { ending, stdout, stderr, bytes, wallMs } = await runProgram({
    argv,
    cwd,
    environment,
    stdin: bytesOf(stdin),
    wall,
    output,
    signal,
    onStdout,
    onStderr,
  }).catch((error: unknown) => {
    throw notStarted(argv[0] ?? '', codeOf((error as Error).cause) ?? '')
  })
  const isTooLong = ending.status === 'limit' && ending.limit === 'output'
  const result: ProcessResult = {
    ...ending,
    stdout,
    stderr,
    profile,
    violations: isTooLong ? [{ kind: 'output', effect: 'ended', limit: output, used: bytes }] : [],
    usage: { wallMs, cpuMs: 0, maxResidentBytes: 0, peakMemoryBytes: undefined },
  }
  if (signal?.aborted === true) throw interrupted(fail('cancelled', {}, signal.reason), result)
  return result
}

const notStarted = (program: string, code: string) =>
  code === 'ENOENT'
    ? fail('program-not-found', { program, fix: 'give its path, or a name in the PATH of the system' })
    : fail('program-not-executable', { program, problem: code, fix: 'name a program that this user may execute' })

interface ProgramRun {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly stdin: Uint8Array
  readonly wall: number | undefined
  readonly output: number
  readonly signal?: AbortSignal | undefined
  readonly onStdout?: ((bytes: Uint8Array) => void) | undefined
  readonly onStderr?: ((bytes: Uint8Array) => void) | undefined
}

interface EndedProgram {
  readonly ending: Ending
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** Of its output, also beyond the limit. */
  readonly bytes: number
  readonly wallMs: number
}

const SIGNALS: Readonly<Record<string, number>> = constants.signals
const SIGKILL = 9
/** A process that left the group may hold the pipes open. Its output is not waited for. */
const LAST_OUTPUT_MS = 1_000

/** Everything in the program's process group ends with it. A process that leaves the group does not. */
export const runProgram = (run: ProgramRun): Promise<EndedProgram> =>
  new Promise((resolve, reject) => {
    const [program = '', ...words] = run.argv
    const begun = monotonicMs()
    const child = spawn(program, words, { cwd: run.cwd, env: run.environment, stdio: 'pipe', detached: true })
    const stdout = collect(run.onStdout)
    const stderr = collect(run.onStderr)
    let reached: LimitKind | undefined
    let ended: { readonly code: number | null; readonly signal: number } | undefined
    let bytes = 0
    const killAll = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // All of them have ended.
      }
    }
    const endFor = (limit: LimitKind): void => {
      reached ??= limit
      killAll()
    }
    const timer = run.wall === undefined ? undefined : setTimeout(endFor, run.wall, 'wall')
    const take = (sink: (piece: Buffer) => void) => (piece: Buffer) => {
      bytes += piece.length
      if (bytes > run.output) endFor('output')
      else sink(piece)
    }
    run.signal?.addEventListener('abort', killAll, { once: true })
    if (run.signal?.aborted === true) killAll()
    child.stdout.on('data', take(stdout.take))
    child.stderr.on('data', take(stderr.take))
    child.stdin.on('error', () => undefined)
    child.stdin.end(run.stdin)
    child.once('error', (error) => {
      clearTimeout(timer)
      const fix = 'run `cordon doctor`'
      reject(fail('setup-failed', { stage: 'exec', problem: `${program}: ${error.message}`, fix }, error))
    })
    child.once('exit', (code, signal) => {
      ended = { code, signal: signal === null ? 0 : (SIGNALS[signal] ?? SIGKILL) }
      clearTimeout(timer)
      killAll()
      setTimeout(() => {
        child.stdout.destroy()
        child.stderr.destroy()
      }, LAST_OUTPUT_MS).unref()
    })
    child.once('close', () => {
      run.signal?.removeEventListener('abort', killAll)
      if (ended === undefined) return
      resolve({
        ending: endingOf(ended, reached),
        stdout: stdout.bytes(),
        stderr: stderr.bytes(),
        bytes,
        wallMs: monotonicMs() - begun,
      })
    })
  })

const endingOf = (
  { code, signal }: { readonly code: number | null; readonly signal: number },
  limit: LimitKind | undefined,
): Ending => {
  if (limit !== undefined) return { status: 'limit', limit, signal: SIGKILL }
  return code === null ? { status: 'signaled', signal } : { status: 'exited', exitCode: code }
}
