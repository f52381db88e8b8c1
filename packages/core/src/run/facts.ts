// Facts about one run: built from its decision and its result, written to a file.
import { randomUUID } from 'node:crypto'
import { accessSync, constants, openSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'

import { CordonError, fail, messageOf, reasonOf } from '../errors/index.js'
import type { Mode, PermissionDecision, PermissionState } from '../gate/index.js'
import { PLATFORM, replaceFile } from '../platform/index.js'
import type { Boundary } from '../policy/index.js'
import { usageOf } from '../runtime/call/index.js'
import type { EgressSummary } from '../runtime/events/index.js'
import type { CallUsage } from '../runtime/index.js'
import type { CallResult, SandboxProfile, Violation } from '../sandbox/index.js'

import { writeText } from '../line/text/console-text.js'
import type { RunOrder } from './request/run-request.js'
import { RUN_TOOL } from './run-tool.js'

/** The output of `--facts` and `--json`: decision, boundary and result. */
export interface Facts {
  readonly permission_decision: PermissionDecision
  readonly permission_state: PermissionState
  readonly sandbox_profile: SandboxProfile | null
  readonly violations: readonly Violation[]
  /** The granted hosts that it reached. Null if none. */
  readonly egress: EgressSummary | null
  readonly usage: CallUsage | null
  readonly command: { readonly argv: readonly string[]; readonly cwd: string } | null
  readonly result: {
    readonly status: CallResult['status'] | 'violated' | 'refused' | 'not_started' | 'evaluated'
    readonly exit_status: number
    readonly exit_code: number | null
    readonly signal: number | null
    readonly limit: string | null
    readonly error: { readonly code: string; readonly message: string; readonly fix: string | null } | null
  }
}

export type Outcome =
  | {
      readonly kind: 'ran'
      /** The permitted words. */
      readonly argv: readonly string[]
      readonly result: CallResult
      /** Why it counts as a failure. */
      readonly problems: readonly CordonError[]
      readonly reached: EgressSummary | null
    }
  | {
      readonly kind: 'refused'
      readonly error: unknown
      /** It was permitted, but could not be started. */
      readonly wasPermitted: boolean
    }
  /** `--dry-run` */
  | { readonly kind: 'evaluated'; readonly order: RunOrder; readonly boundary: Boundary }

/** Without a question. */
export const wouldRun = ({ decision }: PermissionDecision): boolean => decision === 'allow' || decision === 'sandboxed'

/** A decision, and the state of the gate at that time. */
export interface DecidedRun {
  readonly decision: PermissionDecision
  readonly state: PermissionState
}

export const describeRun = (
  order: RunOrder | undefined,
  { decision, state }: DecidedRun,
  outcome: Outcome,
  exitStatus: number,
): Facts => {
  const result = outcome.kind === 'ran' ? outcome.result : undefined
  const problem = outcome.kind === 'ran' ? outcome.problems[0] : outcome.kind === 'refused' ? outcome.error : undefined
  return {
    permission_decision: decision,
    permission_state: state,
    sandbox_profile: result?.profile ?? null,
    violations: result?.violations ?? [],
    egress: outcome.kind === 'ran' ? outcome.reached : null,
    usage: usageOf(result?.usage ?? null),
    command: order === undefined ? null : { argv: outcome.kind === 'ran' ? outcome.argv : order.argv, cwd: order.cwd },
    result: {
      status:
        result !== undefined
          ? problem === undefined
            ? result.status
            : 'violated'
          : outcome.kind === 'refused'
            ? outcome.wasPermitted
              ? 'not_started'
              : 'refused'
            : 'evaluated',
      exit_status: exitStatus,
      exit_code: result?.status === 'exited' ? result.exitCode : null,
      signal: result === undefined || result.status === 'exited' ? null : result.signal,
      limit: result?.status === 'limit' ? result.limit : null,
      error: problem === undefined ? null : describeError(problem),
    },
  }
}

/** The program was missing, so the decision stands. */
const STARTED_IN_VAIN: ReadonlySet<string> = new Set(['program-not-found', 'program-not-executable', 'cancelled'])

/** Not denied: this host, or this version, cannot run it. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  ...(['launcher-missing', 'launcher-mismatch', 'launcher-died', 'platform-unsupported', 'host-cannot-hold'] as const),
  ...(['setup-failed', 'network-grant-unsupported', 'limit-unsupported'] as const),
  ...(['credential-missing', 'credential-unusable', 'secret-source-invalid'] as const),
])

const decisionFor = (code: string | undefined): 'deny' | 'unavailable' =>
  code === undefined || UNAVAILABLE.has(code) ? 'unavailable' : 'deny'

/** The new decision about a permitted call that this host cannot run. Undefined if the first one stands. */
export const revise = (decision: PermissionDecision, error: unknown): PermissionDecision | undefined => {
  const code = error instanceof CordonError ? error.code : undefined
  if (code !== undefined && STARTED_IN_VAIN.has(code)) return undefined
  return {
    ...decision,
    decision_id: randomUUID(),
    decided_at: new Date().toISOString(),
    expires_at: null,
    decision_source: 'policy',
    ...refusal(error, code),
    explain: { ...decision.explain, what_would_change_it: waysOutOf(error) },
  }
}

const waysOutOf = (error: unknown): readonly string[] =>
  error instanceof CordonError && error.fix !== undefined ? [error.fix] : []

const refusal = (error: unknown, code: string | undefined) => ({
  decision: decisionFor(code),
  decision_reason: messageOf(error),
  agent_reason: error instanceof CordonError ? error.agentMessage : 'This call was not run.',
  error_code: code ?? null,
})

/** For a run that could not be judged, because its words, policies or rules are invalid. */
export const undecided = (
  error: unknown,
  order: RunOrder | undefined,
  mode: Mode,
  interactive: boolean,
): DecidedRun => ({
  decision: {
    decision_id: randomUUID(),
    call_id: randomUUID(),
    tool: RUN_TOOL,
    decision_source: 'command',
    ...refusal(error, error instanceof CordonError ? error.code : undefined),
    rule_refs: [],
    updated_input_ref: null,
    approval_action_id: null,
    expires_at: null,
    scope: 'call',
    mode,
    risk: 'unknown',
    risk_is_derived: true,
    used_declared_capability: false,
    arguments_hash: null,
    policy_hash: null,
    argument_gate: 'enforced',
    decided_at: new Date().toISOString(),
    destructive: false,
    explain: { steps: [], rules: [], what_would_change_it: waysOutOf(error), asked_again_because: [] },
  },
  state: { mode, rules: [], policy_sources: [...new Set(order?.policySources ?? [])], interactive, managed_only: [] },
})

const describeError = (error: unknown): Facts['result']['error'] => {
  if (error instanceof CordonError) return { code: error.code, message: error.message, fix: error.fix ?? null }
  return { code: 'bug', message: messageOf(error), fix: null }
}

export interface FactsFile {
  readonly write: (facts: Facts) => void
}

/** Opens everything before the command runs, which may be able to write there, and must not redirect the facts. */
export const openFactsFile = (file: string): FactsFile => {
  const guarded = <Value>(work: () => Value): Value => {
    try {
      return work()
    } catch (cause) {
      throw fail('file-unwritable', { path: file, problem: reasonOf(cause) }, cause)
    }
  }
  const put = guarded(() => openTarget(resolve(file)))
  return {
    write: (facts) => {
      guarded(() => {
        put(`${JSON.stringify(facts, undefined, 2)}\n`)
      })
    },
  }
}

const openTarget = (path: string): ((text: string) => void) => {
  const own = ownDescriptor(path)
  if (own !== undefined) {
    return (text) => {
      writeText(own, text)
    }
  }
  const status = statSync(path, { throwIfNoEntry: false })
  if (status?.isDirectory() === true) throw new Error('it is a directory')
  if (status !== undefined && !status.isFile()) {
    // Writes to a named pipe or a device, and does not replace it.
    const descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
    return (text) => {
      writeText(descriptor, text)
    }
  }
  const real = status === undefined ? path : realpathSync(path)
  // By the descriptor, the folder stays the same one even if the command renames it.
  const opened = openSync(dirname(real), constants.O_RDONLY | constants.O_DIRECTORY)
  const folder = PLATFORM.pathOfDescriptor(opened) ?? realpathSync(dirname(real))
  accessSync(folder, constants.W_OK)
  return (text) => {
    // Its reader waits for this command, and not for the disk.
    replaceFile(`${folder}/${basename(real)}`, text, { mode: { ofNew: 0o644 }, sync: 'atomic' })
  }
}

/** `/dev/stderr`, `/dev/fd/3`: a descriptor of this process, which perhaps cannot be opened again. */
const ownDescriptor = (path: string): number | undefined => {
  const named = ['/dev/stdin', '/dev/stdout', '/dev/stderr'].indexOf(path)
  const number = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path)?.[1]
  return named !== -1 ? named : number === undefined ? undefined : Number(number)
}
