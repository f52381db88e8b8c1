export const EVENT_TYPES = [
  ...(['session.started', 'session.ended', 'policy.changed'] as const),
  ...(['permission.evaluated', 'permission.requested', 'permission.resolved'] as const),
  ...(['sandbox.applied', 'sandbox.violation', 'sandbox.mismatch', 'sandbox.unconfined'] as const),
  ...(['tool.called', 'tool.denied', 'tool.completed'] as const),
  ...(['hook.started', 'hook.completed', 'hook.failed'] as const),
  ...(['process.started', 'process.completed', 'process.terminated'] as const),
  ...(['egress.opened', 'egress.request', 'egress.closed', 'egress.summed'] as const),
  ...(['audit.began', 'audit.repaired'] as const),
] as const

export type EventType = (typeof EVENT_TYPES)[number]
