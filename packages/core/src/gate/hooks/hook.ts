import { flagOf, invalid, itemsOf, mappingOf, oneOf, rootNode, nodeText } from '../../policy/index.js'
import type { PolicyNode } from '../../policy/index.js'
import { isMapping } from '../../shapes/index.js'

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

/** The event that a hook gets. It is frozen, and the same for every hook of the round. */
export interface HookEvent {
  readonly point: HookPoint
  readonly sessionId: string
  readonly callId: string | null
  readonly tool: string | null
  readonly input: JsonValue
  /** After the call: its result, or how it failed. */
  readonly output: JsonValue
  /** At `permission_request`: the reason of the question. */
  readonly reason: string | null
}

/** A function of the host that is called at certain points of a call. */
export interface Hook {
  readonly name: string
  readonly points: readonly HookPoint[]
  readonly source: RuleSource
  /** Milliseconds. A hook that takes longer denies the call. */
  readonly timeout?: number
  /** For hooks of Cordon itself: a thrown CordonError is the denial, with its own text for the model. */
  readonly throwsDenials?: true
  /** Its answer is checked again at run time, because a hook may be plain JavaScript. */
  readonly run: (event: HookEvent, options: { readonly signal: AbortSignal }) => HookReturn | Promise<HookReturn>
}

// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a hook that only looks returns nothing
export type HookReturn = HookAnswer | null | undefined | void

export interface HookAnswer {
  readonly decision?: 'continue' | 'allow' | 'ask' | 'deny' | 'block'
  readonly reason?: string
  /** Replaces the input, which is then judged from the start. */
  readonly updatedInput?: unknown
  /** The result in place of a run: the tool does not start. */
  readonly result?: unknown
  /** After the call: replaces its result. */
  readonly updatedOutput?: unknown
  readonly suppressOutput?: boolean
  /** For the model, beside the result. */
  readonly context?: readonly string[]
  readonly auditRefs?: readonly string[]
}

const DECISIONS = ['continue', 'allow', 'ask', 'deny', 'block'] as const

const given = ({ value }: PolicyNode): unknown => value
const textsOf = (node: PolicyNode): readonly string[] =>
  itemsOf(node, 'a list of texts').map((item) => nodeText(item, 'a text'))

const ANSWER: { readonly [Key in keyof HookAnswer]-?: (node: PolicyNode) => HookAnswer[Key] } = {
  decision: (node) => oneOf(node, DECISIONS),
  reason: (node) => nodeText(node, 'a text'),
  updatedInput: given,
  result: given,
  updatedOutput: given,
  suppressOutput: flagOf,
  context: textsOf,
  auditRefs: textsOf,
}
const ANSWER_KEYS = Object.keys(ANSWER) as readonly (keyof HookAnswer)[]

/** Anything but a valid answer throws, which denies the call. */
export const parseHookAnswer = (value: unknown, source: string): HookAnswer => {
  if (value === undefined || value === null) return {}
  const node = rootNode(value, () => source, 'its answer')
  if (!isMapping(value))
    throw invalid(
      node,
      `nothing, or a mapping such as { decision: "deny", reason: "…" } (decisions: ${DECISIONS.join(', ')})`,
    )
  const entries = mappingOf(node, ANSWER_KEYS)
  return Object.fromEntries(
    ANSWER_KEYS.flatMap((key) => (entries[key] === undefined ? [] : [[key, ANSWER[key](entries[key])]])),
  )
}
