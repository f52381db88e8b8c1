// A plain child process, without a cell. Only the runtime's `runUnconfined` uses it.
import { tmpdir } from 'node:os'

import { codeOf, fail } from '../../errors/index.js'
import type { AbsolutePath, Boundary } from '../../policy/index.js'

import { interrupted } from '../call-result.js'
import type { ProcessResult } from '../call-result.js'
import { bytesOf } from '../launch/run-in-cell.js'
import { buildEnvironment } from '../plan/environment.js'
import { DEFAULT_OUTPUT_LIMIT } from '../plan/plan-limits.js'
import type { UnconfinedProfile } from '../plan/sandbox-profile.js'
import type { RunInput } from '../sandbox-interface.js'
import { runProgram } from './run-program.js'

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
