// What a new version of a tool may do that its last usable version may not. The database cannot compare policies, so
// the process that registers does, and the database believes only a gateway.
import { CordonError } from 'cordon/errors'
import { beyond, describeWitness, parsePolicy, TOOL_KINDS } from 'cordon/policy'
import type { ToolKind } from 'cordon/policy'

/** As in the `definition` of a tool: written by people, so nothing of it is sure. */
export interface ToolRights {
  readonly kind?: unknown
  readonly policy?: unknown
}

const MOST_SENTENCES = 100

/** A sentence each. An empty list: the new version may do nothing more. */
export const wideningOf = (now: ToolRights, before: ToolRights): readonly string[] => {
  if (!isKnownKind(now.kind) && now.kind !== before.kind) return ['its kind is not a known one']
  // A registration without a policy says nothing of the tool: any policy fits it.
  if (isMissing(before.policy)) return kindsBeyond(now.kind, before.kind)
  if (isMissing(now.policy)) return ['it names no policy any more, so a tool with any policy fits it']
  try {
    const found = beyond(parsePolicy(now.policy, 'the new policy'), parsePolicy(before.policy, 'the policy before'), {
      kind: kindOf(now.kind),
      boundKind: kindOf(before.kind),
    })
    return found.slice(0, MOST_SENTENCES).map(describeWitness)
  } catch (error) {
    if (!(error instanceof CordonError)) throw error
    return [`its policy cannot be compared: ${error.message}`]
  }
}

const isMissing = (value: unknown): boolean => value === undefined || value === null

const kindsBeyond = (now: unknown, before: unknown): readonly string[] => {
  const nothing = parsePolicy({}, 'an empty policy')
  return beyond(nothing, nothing, { kind: kindOf(now), boundKind: kindOf(before) }).map(describeWitness)
}

const isKnownKind = (kind: unknown): boolean =>
  isMissing(kind) || (typeof kind === 'string' && Object.hasOwn(TOOL_KINDS, kind))

/** An omitted kind is that of a program. */
const kindOf = (kind: unknown): ToolKind =>
  isKnownKind(kind) && typeof kind === 'string' ? (kind as ToolKind) : 'process'
