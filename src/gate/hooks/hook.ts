import { invalid, itemsOf, mappingOf, oneOf, rootNode, textOf } from '../../policy/index.js'
import type { PolicyNode } from '../../policy/index.js'

import type { JsonValue } from '../input/json-value.js'
import type { RuleSource } from '../rules/rule.js'

export const HOOK_POINTS = [
  'session_start',
  'user_prompt_submit',
  'pre_tool_use',
  'permission_request',
  'post_tool_use',
  'post_tool_failure',
  'post_sampling',
  'stop',
] as const
export type HookPoint = (typeof HOOK_POINTS)[number]

/** What a hook gets to see: a frozen copy, the same for every hook of the round. */
export interface HookEvent {
  readonly point: HookPoint
  readonly sessionId: string
  readonly callId: string | null
  readonly tool: string | null
  readonly input: JsonValue
  /** After the call: what it returned, or how it failed. */
  readonly output: JsonValue
  /** Why somebody is about to be asked, at `permission_request`. */
  readonly reason: string | null
}

/** Code of the host that is asked at certain points of a call. */
export interface Hook {
  readonly name: string
  readonly points: readonly HookPoint[]
  readonly source: RuleSource
  /** Milliseconds; a hook that takes longer denies. */
  readonly timeout?: number
  /** A hook of Cordon itself: an error of the table that it throws is the denial, with its own words for the model. */
  readonly throwsDenials?: true
  /** Answers a `HookAnswer`, or nothing. Typed as unknown because it is checked, not trusted. */
  readonly run: (event: HookEvent, options: { readonly signal: AbortSignal }) => unknown
}

/** What hooks may answer; every key may be left out. */
export interface HookAnswer {
  readonly decision?: 'continue' | 'allow' | 'ask' | 'deny' | 'block'
  readonly reason?: string
  /** Replaces the input, which then goes through everything again. */
  readonly updatedInput?: unknown
  /** Stands in for the call: nothing runs, and this is the result. */
  readonly result?: unknown
  /** After the call: replaces what it returned. */
  readonly updatedOutput?: unknown
  readonly suppressOutput?: boolean
  /** For the model, beside the result. */
  readonly context?: readonly string[]
  readonly auditRefs?: readonly string[]
}

const ANSWER_KEYS = [
  'decision',
  'reason',
  'updatedInput',
  'result',
  'updatedOutput',
  'suppressOutput',
  'context',
  'auditRefs',
] as const
const DECISIONS = ['continue', 'allow', 'ask', 'deny', 'block'] as const

/** Nothing is guessed: an answer that is not exactly one throws, which denies. */
export const parseHookAnswer = (value: unknown, source: string): HookAnswer => {
  if (value === undefined || value === null) return {}
  const node = rootNode(value, () => source, 'its answer')
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalid(
      node,
      `nothing, or a mapping such as { decision: "deny", reason: "…" } (decisions: ${DECISIONS.join(', ')})`,
    )
  const given = mappingOf(node, ANSWER_KEYS)
  return {
    ...(given.decision === undefined ? {} : { decision: oneOf(given.decision, DECISIONS) }),
    ...(given.reason === undefined ? {} : { reason: textOf(given.reason, 'a text') }),
    ...(given.updatedInput === undefined ? {} : { updatedInput: given.updatedInput.value }),
    ...(given.result === undefined ? {} : { result: given.result.value }),
    ...(given.updatedOutput === undefined ? {} : { updatedOutput: given.updatedOutput.value }),
    ...(given.suppressOutput === undefined ? {} : { suppressOutput: flagOf(given.suppressOutput) }),
    ...(given.context === undefined ? {} : { context: textsOf(given.context) }),
    ...(given.auditRefs === undefined ? {} : { auditRefs: textsOf(given.auditRefs) }),
  }
}

const flagOf = (node: PolicyNode): boolean => {
  if (typeof node.value !== 'boolean') throw invalid(node, 'true or false')
  return node.value
}

const textsOf = (node: PolicyNode): readonly string[] =>
  itemsOf(node, 'a list of texts').map((item) => textOf(item, 'a text'))
