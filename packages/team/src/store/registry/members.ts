// Members, profiles, stops, budgets and limits of a team.
import { nearestKey } from 'cordon/policy'

import { fail } from '../../errors/errors.js'
import type { Queryable } from '../engine.js'
import { storeMissing } from '../engine/sql-error.js'
import { thenRejectSuperseded } from './registry.js'
import { callProcedure, listFrom } from './statements.js'
import { BUDGET, MEMBER, PROFILE, STOP, WAITING_LIMIT } from './team-answers.js'
import type { MemberKind, Profile, Self, Stop } from './team-answers.js'

export const findSelf = async ({ query }: Queryable): Promise<Self> => {
  const [row] = await query<{ actor: string }>('select agents.fn_actor() as actor')
  const teams = await query<{ team: string; kinds: readonly MemberKind[] }>(
    'select owner as team, array_agg(kind order by kind) as kinds from agents.members where actor = ' +
      'agents.fn_actor() group by owner order by owner',
  )
  return { actor: row?.actor ?? '', teams }
}

export const listMembers = listFrom(MEMBER, 'agents.members where owner = $1 group by actor order by actor', {
  kinds: 'array_agg(kind order by kind)',
})

/** Refuses an unknown name, with which a change would have no effect, or affect a later member of that name. */
export const requireMember = async (
  { query }: Queryable,
  team: string,
  actor: string,
  kind: MemberKind,
): Promise<void> => {
  const statement = 'select from agents.members where owner = $1 and actor = $2 and kind = $3'
  const [there] = await query(statement, [team, actor, kind])
  if (there === undefined) throw storeMissing(`${actor} is no ${kind} of ${team}`)
}

/** An existing team has admins, who add others. */
export const requireNewTeam = async ({ query }: Queryable, team: string): Promise<void> => {
  const [there] = await query('select from agents.members where owner = $1 limit 1', [team])
  if (there !== undefined)
    throw fail('store-state', {
      problem: `the team ${team} exists already`,
      hint: `see its members: cordon team show --team ${team}; its admins add others: cordon team add NAME operator`,
    })
}

export const removeMember = async (
  session: Queryable,
  owner: string,
  actor: string,
  kind: MemberKind,
): Promise<void> => {
  await requireMember(session, owner, actor, kind)
  await thenRejectSuperseded(session, callProcedure(session, 'fn_remove_member', { owner, actor, kind }), owner)
}

export const listProfiles = listFrom(PROFILE, 'agents.tool_profiles where owner = $1 order by name', {
  askTools:
    'array(select key from jsonb_each(overrides) as o (key, said) ' +
    `where said ->> 'requires_approval' = 'true' order by key)`,
})

type NewProfile = Pick<Profile, 'name'> & {
  readonly [Key in Exclude<keyof Profile, 'name'>]?: NonNullable<Profile[Key]>
}

export const setProfile = async (
  session: Queryable,
  owner: string,
  { name, allowTools, denyTools, toolGroups, askTools = [], requiresApproval, isDefault }: NewProfile,
): Promise<void> => {
  const overrides = JSON.stringify(Object.fromEntries(askTools.map((tool) => [tool, { requires_approval: true }])))
  const given = { owner, name, allowTools, denyTools, toolGroups, overrides, requiresApproval, isDefault }
  await thenRejectSuperseded(session, callProcedure(session, 'fn_set_profile', given), owner)
}

export const listStops = listFrom(STOP, 'agents.controls where owner = $1 order by since')

const NAMES = {
  // Also former members, whose calls may still run.
  agent: `select actor as name from agents.members where owner = $1 and kind = 'agent' union select a.agent from agents.tool_assignments a join agents.tools_registry t on t.id = a.tool_id where t.owner = $1
    union select agent from agents.tool_invocations where owner = $1 and status in ('pending', 'approved', 'running')`,
  tool: 'select key as name from agents.tools_registry where owner = $1',
  profile: 'select name from agents.tool_profiles where owner = $1',
} as const

/** A mistyped name would stop or limit nothing, and look as if it did. */
export const requireSubject = async (
  { query }: Queryable,
  team: string,
  { scope, subject }: Pick<Stop, 'scope' | 'subject'>,
): Promise<void> => {
  if (scope === 'all') return
  const names = (await query<{ name: string }>(NAMES[scope], [team])).map(({ name }) => name)
  if (names.includes(subject)) return
  const near = nearestKey(subject, names)
  throw storeMissing(`${team} has no ${scope} ${subject}`, near === undefined ? '' : `did you mean ${near}?`)
}

export const resumeTeam = async (
  { query }: Queryable,
  team: string,
  { scope, subject }: Pick<Stop, 'scope' | 'subject'>,
): Promise<void> => {
  const stops = await listStops({ query }, team)
  if (!stops.some((each) => each.scope === scope && each.subject === subject)) {
    const others = stops.map((each) =>
      each.scope === 'all'
        ? 'everything (cordon team resume)'
        : `${each.scope} ${each.subject} (cordon team resume --${each.scope} ${each.subject})`,
    )
    throw storeMissing(
      `${scope === 'all' ? 'not everything' : `not the ${scope} ${subject}`} is stopped in ${team}`,
      others.length === 0 ? 'you can see no stops' : `these are stopped: ${others.join(', ')}`,
    )
  }
  await callProcedure({ query }, 'fn_resume', { owner: team, scope, subject })
}

export const listBudgets = listFrom(BUDGET, 'agents.fn_list_budgets($1)', {
  seconds: 'extract(epoch from span)::float8',
  maxCalls: 'max_calls::float8',
  maxCost: 'max_cost::float8',
  usedCalls: 'used_calls::float8',
  usedCost: 'used_cost::float8',
})

export const listLimits = listFrom(
  WAITING_LIMIT,
  'agents.waiting_limits where owner = $1 and most is not null order by waiting_limits.agent',
  { agent: `nullif(agent, '')`, waiting: 'most' },
)

/** Without a number the default applies again. Without an agent the limit is for each agent of the team. */
export const limitWaiting = (
  session: Queryable,
  owner: string,
  { agent, waiting }: { readonly agent?: string; readonly waiting?: number },
): Promise<void> => callProcedure(session, 'fn_limit_waiting', { owner, most: waiting ?? null, agent })
