import { createSessionCount, parseGrant } from '../../gate/index.js'
import type { ApprovalGrant, SessionBudget, SessionCount } from '../../gate/index.js'

import type { PolicyChange } from '../events/call-record.js'
import type { SessionState } from './session-state.js'

/** One `session` of calls: they count together, and what was approved for it holds for all of them. */
export interface Session {
  readonly count: SessionCount
  /** Those of the session, and those that the host gives with a call. */
  readonly approvals: (given: readonly unknown[]) => readonly ApprovalGrant[]
  /** An approval let a call run: one for the session is kept, one for a call is used now. Says what is new. */
  readonly keep: (grant: ApprovalGrant) => readonly PolicyChange[]
}

export interface Sessions {
  readonly of: (name: string) => Session
  /** The same session as it is now; what is done with it changes nothing. */
  readonly trial: (name: string) => Session
  readonly end: (name: string) => void
  /** Taken in one step: a call that runs meanwhile counts as begun. */
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
  // Beyond sessions: an approval of one call is for one call, wherever it is given.
  const used = new Map<string, ApprovalGrant>()
  for (const grant of resumed?.used ?? []) used.set(grant.approval_action_id, grant)
  for (const { name, invocation, approvals } of resumed?.sessions ?? []) {
    sessions.set(name, {
      count: createSessionCount({ state: invocation, ...bounded }),
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
    state: () => ({
      sessions: Array.from(sessions, ([name, { count, approvals }]) => ({
        name,
        invocation: count.state(),
        approvals: [...approvals.values()],
      })),
      used: [...used.values()],
    }),
  }
}

/** What has expired is refused for that; it need not be kept. */
const forgetExpired = (grants: Map<string, ApprovalGrant>, now: number): void => {
  for (const [id, { expires_at: expiresAt }] of grants) if (expiresAt <= now) grants.delete(id)
}
