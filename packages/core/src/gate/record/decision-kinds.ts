export const DECISIONS = ['allow', 'deny', 'ask', 'unavailable', 'sandboxed'] as const
export type DecisionKind = (typeof DECISIONS)[number]

/** Who decided. */
export const DECISION_SOURCES = [
  'registry',
  'schema',
  'constraint',
  'policy',
  'hook',
  'rule',
  'mode',
  'classifier',
  'approver',
  'command',
] as const
export type DecisionSource = (typeof DECISION_SOURCES)[number]
