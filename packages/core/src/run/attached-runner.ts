// Runs a permitted command on the terminal or the pipes of `cordon run`.
import type { CordonError } from '../errors/index.js'
import type { JsonObject } from '../gate/index.js'
import type { Boundary } from '../policy/index.js'
import type { BeforeStart, CallTool, ToolRunner } from '../runtime/call/index.js'
import { processEndingOf } from '../runtime/events/index.js'
import type { NetworkCall } from '../runtime/network/index.js'
import type { OwnFile } from '../runtime/own-files/index.js'
import type { CallResult } from '../sandbox/index.js'

import { intrusionErrors } from './text/intrusions.js'
import { argvOf } from './run-tool.js'

export type Launch = (
  argv: readonly string[],
  boundary: Boundary,
  call: NetworkCall & { readonly beforeStart: BeforeStart },
) => Promise<CallResult>

interface AttachedRunner extends ToolRunner<CallTool> {
  /** Undefined if nothing ran. */
  readonly ran: () => AttachedRun | undefined
}

export interface AttachedRun {
  /** The permitted words, which a person may have edited. */
  readonly argv: readonly string[]
  readonly result: CallResult
  /** One for each touched protected name. */
  readonly intrusions: readonly CordonError[]
}

export const attachedRunner = (launch: Launch, ownFiles: readonly OwnFile[]): AttachedRunner => {
  let ran: AttachedRun | undefined
  return {
    ran: () => ran,
    processOf: (_, { call }) => {
      const argv = argvOf(call)
      const { program } = call as JsonObject
      return { program: typeof program === 'string' ? program : (argv[0] ?? ''), words: argv }
    },
    run: async ({ gate: { boundary } }, { input, network, beforeStart }) => {
      const argv = argvOf(input)
      // Typing the command approves it, and the log records that.
      const result = await launch(argv, boundary, { ...network, writeApproval: 'recorded', beforeStart })
      const intrusions = intrusionErrors(result, boundary, ownFiles)
      ran = { argv, result, intrusions }
      const { profile, violations, usage } = result
      // Output does not pass through this process, so there is nothing to keep or to hash.
      const output = { output: undefined, writtenBytes: null, printed: '' }
      return { ...judge(ran), ...output, profile, violations, usage, ending: processEndingOf(result, violations) }
    },
  }
}

/** If the command fails, that is not an error of Cordon. */
const judge = ({ result, intrusions: [intrusion] }: AttachedRun) => {
  if (result.status === 'limit' && result.limit === 'wall')
    return { status: 'timeout', reason: 'the wall-clock limit', error: intrusion } as const
  if (result.status === 'exited' && result.exitCode === 0 && intrusion === undefined)
    return { status: 'ok', error: undefined } as const
  const reason =
    result.status === 'exited' ? `exit status ${String(result.exitCode)}` : `killed by signal ${String(result.signal)}`
  return { status: result.violations.length > 0 ? 'violated' : 'failed', reason, error: intrusion } as const
}
