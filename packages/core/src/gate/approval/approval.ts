import { invalid, mappingOf, oneOf, required, rootNode, nodeText } from '../../policy/index.js'
import { isMapping } from '../../shapes/index.js'

const GRANT_STATUSES = ['active', 'expired', 'revoked', 'superseded', 'pending', 'used'] as const

/** An approval of an earlier question, kept by the runtime or a store. */
export interface ApprovalGrant {
  readonly approval_action_id: string
  readonly tool: string
  readonly arguments_hash: string
  readonly policy_hash: string
  /** `call`: for one call. `session`: until it expires. Both only for these arguments. */
  readonly scope: 'call' | 'session'
  /** Milliseconds since 1970. */
  readonly expires_at: number
  readonly status: (typeof GRANT_STATUSES)[number]
  readonly approved_by: string
}

interface WantedApproval {
  readonly tool: string
  readonly argumentsHash: string
  readonly policyHash: string
  readonly now: number
  readonly isUsed: (approvalActionId: string) => boolean
}

type FoundApproval =
  | { readonly kind: 'found'; readonly grant: ApprovalGrant }
  /** Why each approval of this tool does not count. */
  | { readonly kind: 'none'; readonly because: readonly string[] }

export const findApproval = (grants: readonly ApprovalGrant[], wanted: WantedApproval): FoundApproval => {
  const because: string[] = []
  for (const grant of grants) {
    if (grant.tool !== wanted.tool) continue
    const problem = problemOf(grant, wanted)
    if (problem === undefined) return { kind: 'found', grant }
    because.push(`the approval ${grant.approval_action_id} ${problem}`)
  }
  return { kind: 'none', because }
}

const problemOf = (
  grant: ApprovalGrant,
  { argumentsHash, policyHash, now, isUsed }: WantedApproval,
): string | undefined => {
  if (grant.arguments_hash !== argumentsHash) return 'was for other arguments'
  if (grant.policy_hash !== policyHash) return 'was given before the policy of the tool changed'
  if (grant.status !== 'active') return `is ${grant.status}`
  if (!(now < grant.expires_at)) return `expired at ${new Date(grant.expires_at).toISOString()}`
  return grant.scope === 'call' && isUsed(grant.approval_action_id) ? 'was for one call, and is used' : undefined
}

/** Used approvals of one call, until they expire. */
export interface UsedApprovals {
  readonly has: (approvalActionId: string) => boolean
  readonly add: (approvalActionId: string, expiresAt: number) => void
}

export const createUsedApprovals = (now: () => number): UsedApprovals => {
  const used = new Map<string, number>()
  return {
    has: (id) => used.has(id),
    add: (id, expiresAt) => {
      const time = now()
      // An expired approval is refused anyway.
      for (const [other, expiry] of used) if (expiry <= time) used.delete(other)
      used.set(id, expiresAt)
    },
  }
}

/** The possible answers to a question. */
export type ApprovalAnswer =
  | { readonly kind: 'approve_once'; readonly by: string }
  | { readonly kind: 'approve_for_scope'; readonly by: string }
  | { readonly kind: 'deny'; readonly by: string; readonly reason: string }
  /** Approves the call with another input, which is judged from the start. */
  | { readonly kind: 'modify'; readonly by: string; readonly input: unknown }
  | { readonly kind: 'escalate'; readonly by: string; readonly reason: string }
  | { readonly kind: 'request_more_info'; readonly by: string; readonly reason: string }
  /** Nobody answered in time. `then`: what `approval.otherwise` says. */
  | { readonly kind: 'timed_out'; readonly then: 'deny' | 'approve' }
  /** The caller withdrew the call. */
  | { readonly kind: 'cancelled' }
  /** Whoever was to ask could not: an approver threw. */
  | { readonly kind: 'failed'; readonly reason: string }

export const ANSWER_KINDS = [
  'approve_once',
  'approve_for_scope',
  'deny',
  'modify',
  'escalate',
  'request_more_info',
  'timed_out',
  'cancelled',
  'failed',
] as const

export const ANSWER_FIX =
  'answer { kind, by }: by is the person; deny has a reason, modify an input; kinds: approve_once, ' +
  'approve_for_scope, deny, modify, escalate, request_more_info'

/** Reads an answer. Prose such as "yes, go ahead" is an error, not an approval. */
export const parseAnswer = (value: unknown): ApprovalAnswer => {
  const node = rootNode(value, () => 'approve', 'its answer')
  if (!isMapping(value)) throw invalid(node, 'a mapping such as { kind: "approve_once", by: "ann" }')
  const given = mappingOf(node, ['kind', 'by', 'reason', 'input', 'then'])
  const kind = oneOf(given.kind ?? { ...node, value: undefined, path: ['kind'] }, ANSWER_KINDS)
  if (kind === 'timed_out')
    return { kind, then: given.then === undefined ? 'deny' : oneOf(given.then, ['deny', 'approve'] as const) }
  if (kind === 'cancelled') return { kind }
  if (kind === 'failed') return { kind, reason: nodeText(required(node, given, 'reason'), 'a reason') }
  const by = nodeText(required(node, given, 'by'), 'who answers')
  if (by.trim() === '') throw invalid(node, 'an answer that says who gives it ("by")')
  switch (kind) {
    case 'approve_once':
    case 'approve_for_scope':
      return { kind, by }
    case 'modify':
      return { kind, by, input: required(node, given, 'input').value }
    case 'deny':
    case 'escalate':
    case 'request_more_info':
      return { kind, by, reason: given.reason === undefined ? 'no reason given' : nodeText(given.reason, 'a text') }
  }
}

/** Reads a stored grant. Anything else is refused. */
export const parseGrant = (value: unknown, source: string): ApprovalGrant => {
  const node = rootNode(value, () => source, 'the approval')
  const given = mappingOf(node, [
    'approval_action_id',
    'tool',
    'arguments_hash',
    'policy_hash',
    'scope',
    'expires_at',
    'status',
    'approved_by',
  ])
  const text = (key: keyof typeof given): string => nodeText(required(node, given, key), 'a text')
  const expiresAt = required(node, given, 'expires_at')
  if (typeof expiresAt.value !== 'number' || !Number.isSafeInteger(expiresAt.value))
    throw invalid(expiresAt, 'milliseconds since 1970')
  return {
    approval_action_id: text('approval_action_id'),
    tool: text('tool'),
    arguments_hash: text('arguments_hash'),
    policy_hash: text('policy_hash'),
    scope: oneOf(required(node, given, 'scope'), ['call', 'session'] as const),
    expires_at: expiresAt.value,
    status: oneOf(required(node, given, 'status'), GRANT_STATUSES),
    approved_by: text('approved_by'),
  }
}
