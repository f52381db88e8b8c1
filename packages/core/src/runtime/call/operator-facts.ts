import { fileURLToPath } from 'node:url'

import type { CordonError, ErrorCode } from '../../errors/index.js'
import type { PermissionDecision, PermissionState } from '../../gate/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { CallOutcome } from '../call-outcome.js'
import { processUsage } from '../events/process-ending.js'
import type { CallFacts, CallUsage, Execution } from '../result/tool-result.js'
import type { CallServices } from './call-services.js'

export const usageOf = (usage: Execution['usage']): CallUsage | null =>
  usage === null ? null : { ...processUsage(usage), peak_memory_bytes: usage.peakMemoryBytes ?? null }

/** What the operator can read about a call. */
export const factsForOperator = (
  { gate, events, manifestOf }: Pick<CallServices, 'gate' | 'events' | 'manifestOf'>,
  decision: PermissionDecision,
  outcome: CallOutcome | undefined,
  error: CordonError | undefined,
): CallFacts => ({
  call_id: decision.call_id,
  session_id: events.sessionId,
  ...withoutUndefined({ manifest: manifestOf(decision.tool) }),
  tool: decision.tool,
  permission_state: withRulesOf(decision, gate.state()),
  permission_decision: decision,
  sandbox_profile: outcome?.profile ?? null,
  violations: outcome?.violations ?? [],
  egress: outcome?.egress ?? null,
  ...((outcome?.bareRequests ?? []).length === 0 ? {} : { bare_requests: outcome?.bareRequests ?? [] }),
  usage: usageOf(outcome?.usage ?? null),
  error: error === undefined ? null : describeError(error),
  printed: outcome?.printed ?? '',
  ...(outcome?.registered === undefined ? {} : { registered: outcome.registered }),
})

type Rules = PermissionState['rules']

const rulesByRef = new WeakMap<PermissionState, ReadonlyMap<string, Rules[number]>>()

/** Only the rules that took part in the decision. `session.started` has all of them. */
const withRulesOf = ({ rule_refs }: PermissionDecision, state: PermissionState): PermissionState => {
  const known = rulesByRef.get(state) ?? new Map(state.rules.map((rule) => [rule.ref, rule]))
  rulesByRef.set(state, known)
  return { ...state, rules: rule_refs.flatMap((ref) => known.get(ref) ?? []) }
}

/** The causes of these are errors that the tool threw. */
const OF_TOOLS: readonly string[] = ['tool-failed', 'tool-violated', 'tool-unloadable'] satisfies ErrorCode[]

const describeError = ({ code, message, fix, cause }: CordonError): CallFacts['error'] => ({
  code,
  message,
  fix: fix ?? null,
  ...withoutUndefined({ stack: OF_TOOLS.includes(code) ? stackForOperator(cause) : undefined }),
})

/** Cordon's own folder: its files follow the tool's in a stack. */
const OWN_FOLDER = fileURLToPath(new URL('../../', import.meta.url))
const RUNNER = '/function-cell/runner.js'
/** A function that was sent as text: "at run (eval at load (file:///…/runner.js:1:2), <anonymous>:3:4)". */
const EVALUATED = /eval at [\w$.<>]{1,64} \([^()]{0,4096}\), /

const LONGEST = 8 * 1024

/** The stack of an error that a tool threw. A cell sends it as text, so it may say anything. Undefined without one. */
const stackForOperator = (thrown: unknown): string | undefined => {
  const { stack } = Object(thrown) as { readonly stack?: unknown }
  if (typeof stack !== 'string' || stack === '') return undefined
  return stack
    .slice(0, LONGEST)
    .split('\n')
    .map((line) => (line.includes(RUNNER) ? line.replace(EVALUATED, '') : line))
    .filter((line) => !line.includes(RUNNER) && !line.includes(OWN_FOLDER))
    .join('\n')
}
