import { createSessionCount, parseGrant } from '../../gate/index.js'
import type { ApprovalGrant, SessionBudget, SessionCount } from '../../gate/index.js'

import type { PolicyChange } from '../events/call-record.js'
import type { SessionState } from './session-state.js'

/** One session: its calls count together and share approvals. */
export interface Session {
  readonly count: SessionCount
  /** The approvals of the session, and those that the host gives with a call. */
  readonly approvals: (given: readonly unknown[]) => readonly ApprovalGrant[]
  /** Keeps an approval for the session, or marks one for a call as used. Returns a change for the record. */
  readonly keep: (grant: ApprovalGrant) => readonly PolicyChange[]
}

export interface Sessions {
  readonly of: (name: string) => Session
  /** A copy of the session for a trial. */
  readonly trial: (name: string) => Session
  readonly end: (name: string) => void
  /** Approvals were given for a tool as it was then. */
  readonly forgetTool: (tool: string) => void
  /** A running call counts as begun. */
  readonly state: () => Pick<SessionState, 'sessions' | 'used'>
}

interface Kept {
  readonly count: SessionCount
  readonly approvals: Map<string, ApprovalGrant>
}

export const createSessions = (
  budget: SessionBudget | undefined,
  resumed: SessionState | undefined,
  now: () => number,
): Sessions => {
  const bounded = budget === undefined ? {} : { budget }
  const sessions = new Map<string, Kept>()
  // Shared by all sessions: an approval for one call lets only one call run.
  const used = new Map<string, ApprovalGrant>()
  for (const grant of resumed?.used ?? []) used.set(grant.approval_action_id, grant)
  for (const { name, count, approvals } of resumed?.sessions ?? []) {
    sessions.set(name, {
      count: createSessionCount({ state: count, ...bounded }),
      approvals: new Map(approvals.map((grant) => [grant.approval_action_id, grant])),
    })
  }

  const keptOf = (name: string): Kept => {
    const kept = sessions.get(name) ?? {
      count: createSessionCount(bounded),
      approvals: new Map<string, ApprovalGrant>(),
    }
    sessions.set(name, kept)
    return kept
  }
  const asUsed = (grant: ApprovalGrant): ApprovalGrant =>
    used.has(grant.approval_action_id) ? { ...grant, status: 'used' } : grant
  const sessionOf = ({ count, approvals }: Kept): Session => ({
    count,
    approvals: (given) => [
      ...approvals.values(),
      ...given.map((each) => asUsed(parseGrant(each, 'approvals of the call'))),
    ],
    keep: (grant) => {
      forgetExpired(approvals, now())
      forgetExpired(used, now())
      const those = grant.scope === 'call' ? used : approvals
      const isNew = !those.has(grant.approval_action_id)
      those.set(grant.approval_action_id, grant.scope === 'call' ? { ...grant, status: 'used' } : grant)
      return isNew && grant.scope === 'session'
        ? [
            {
              change: 'approval',
              because:
                `${grant.approved_by} approved calls with these arguments for the session ` +
                `(${grant.approval_action_id})`,
            },
          ]
        : []
    },
  })

  return {
    of: (name) => sessionOf(keptOf(name)),
    trial: (name) => {
      const { count, approvals } = keptOf(name)
      return sessionOf({
        count: createSessionCount({ state: count.state(), ...bounded }),
        approvals: new Map(approvals),
      })
    },
    end: (name) => {
      sessions.delete(name)
    },
    forgetTool: (tool) => {
      for (const { approvals } of sessions.values())
        for (const [id, grant] of approvals) if (grant.tool === tool) approvals.delete(id)
    },
    state: () => ({
      sessions: Array.from(sessions, ([name, { count, approvals }]) => ({
        name,
        count: count.state(),
        approvals: [...approvals.values()],
      })),
      used: [...used.values()],
    }),
  }
}

/** An expired approval is refused anyway. */
const forgetExpired = (grants: Map<string, ApprovalGrant>, now: number): void => {
  for (const [id, { expires_at: expiresAt }] of grants) if (expiresAt <= now) grants.delete(id)
}
