import { fail } from '../../errors/index.js'
import { nearestKey } from '../../policy/index.js'

import type { Session } from '../engine.js'
import type { MemberKind } from './registry.js'
import { thenRejectSuperseded } from './superseded.js'
import { missing } from '../engine/ways-out.js'

type Asking = Pick<Session, 'query'>

export interface Member {
  readonly actor: string
  readonly kinds: readonly MemberKind[]
}

export interface Self {
  readonly actor: string
  readonly teams: readonly { readonly team: string; readonly kinds: readonly MemberKind[] }[]
}

export const findSelf = async ({ query }: Asking): Promise<Self> => {
  const [row] = await query<{ actor: string }>('select agents.fn_actor() as actor')
  const teams = await query<{ team: string; kinds: readonly MemberKind[] }>(
    'select owner as team, array_agg(kind order by kind) as kinds from agents.members where actor = ' +
      'agents.fn_actor() group by owner order by owner',
  )
  return { actor: row?.actor ?? '', teams }
}

export const listMembers = ({ query }: Asking, team: string): Promise<readonly Member[]> =>
  query(
    'select actor, array_agg(kind order by kind) as kinds from agents.members where owner = $1 group by ' +
      'actor order by actor',
    [team],
  )

export const requireAgent = async ({ query }: Asking, team: string, actor: string): Promise<void> => {
  const [there] = await query("select from agents.members where owner = $1 and actor = $2 and kind = 'agent'", [
    team,
    actor,
  ])
  if (there === undefined) throw missing(`${actor} is no agent of ${team}`)
}

/** A team that is there has admins, who let others in. */
export const requireNewTeam = async ({ query }: Asking, team: string): Promise<void> => {
  const [there] = await query('select from agents.members where owner = $1 limit 1', [team])
  if (there !== undefined)
    throw fail('store-state', {
      problem: `the team ${team} is there already`,
      hint: `see who is in it: cordon team show --team ${team}; its admins add others: cordon team add NAME operator`,
    })
}

export const removeMember = async ({ query }: Asking, team: string, actor: string, kind: MemberKind): Promise<void> => {
  const [there] = await query('select from agents.members where owner = $1 and actor = $2 and kind = $3', [
    team,
    actor,
    kind,
  ])
  if (there === undefined) throw missing(`${actor} is no ${kind} of ${team}`)
  await thenRejectSuperseded({ query }, query('select agents.fn_remove_member($1, $2, $3)', [team, actor, kind]), team)
}

export interface Profile {
  readonly name: string
  readonly allowTools: readonly string[] | null
  readonly denyTools: readonly string[]
  readonly toolGroups: readonly string[] | null
  /** Of these every call needs approval, whatever the tool says. */
  readonly askTools: readonly string[]
  readonly requiresApproval: boolean
  readonly isDefault: boolean
}

export const listProfiles = ({ query }: Asking, team: string): Promise<readonly Profile[]> =>
  query(
    `select name, allow_tools as "allowTools", deny_tools as "denyTools", tool_groups as "toolGroups",
      array(select key from jsonb_each(overrides) as o (key, said) where said ->> 'requires_approval' = 'true' order by key) as "askTools", requires_approval as "requiresApproval", is_default as "isDefault"
      from agents.tool_profiles where owner = $1 order by name`,
    [team],
  )

export type NewProfile = Pick<Profile, 'name'> & {
  readonly [Key in Exclude<keyof Profile, 'name'>]?: NonNullable<Profile[Key]>
}

export const setProfile = async (
  { query }: Asking,
  team: string,
  { name, allowTools, denyTools, toolGroups, askTools = [], requiresApproval, isDefault }: NewProfile,
): Promise<void> => {
  const overrides = JSON.stringify(Object.fromEntries(askTools.map((tool) => [tool, { requires_approval: true }])))
  await thenRejectSuperseded(
    { query },
    query('select agents.fn_set_profile($1, $2, $3, $4, $5, $6, $7, $8)', [
      team,
      name,
      allowTools ?? null,
      denyTools ?? [],
      toolGroups ?? null,
      overrides,
      requiresApproval ?? false,
      isDefault ?? false,
    ]),
    team,
  )
}

export interface Stop {
  readonly scope: 'all' | 'agent' | 'tool' | 'profile'
  readonly subject: string
  readonly state: 'kill' | 'pause'
  readonly reason: string
  readonly author: string
  readonly since: Date
}

export const listStops = ({ query }: Asking, team: string): Promise<readonly Stop[]> =>
  query('select scope, subject, state, reason, author, since from agents.controls where owner = $1 order by since', [
    team,
  ])

const NAMES = {
  // Also one that is no member any more: what it asked for may still run.
  agent: `select actor as name from agents.members where owner = $1 and kind = 'agent' union select a.agent from agents.tool_assignments a join agents.tools_registry t on t.id = a.tool_id where t.owner = $1
    union select agent from agents.tool_invocations where owner = $1 and status in ('pending', 'approved', 'running')`,
  tool: 'select key as name from agents.tools_registry where owner = $1',
  profile: 'select name from agents.tool_profiles where owner = $1',
} as const

/** A slip in a name would stop or limit nothing, and look as if it did. */
export const requireSubject = async (
  { query }: Asking,
  team: string,
  { scope, subject }: Pick<Stop, 'scope' | 'subject'>,
): Promise<void> => {
  if (scope === 'all') return
  const names = (await query<{ name: string }>(NAMES[scope], [team])).map(({ name }) => name)
  if (names.includes(subject)) return
  const near = nearestKey(subject, names)
  throw missing(`${team} has no ${scope} ${subject}`, near === undefined ? '' : `did you mean ${near}?`)
}

export const stopTeam = async (
  { query }: Asking,
  team: string,
  { scope, subject, state, reason }: Pick<Stop, 'scope' | 'subject' | 'state' | 'reason'>,
): Promise<void> => {
  await query('select agents.fn_stop($1, $2, $3, $4, $5)', [team, state, reason, scope, subject])
}

export const resumeTeam = async (
  { query }: Asking,
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
    throw missing(
      `${scope === 'all' ? 'not everything' : `not the ${scope} ${subject}`} is stopped in ${team}`,
      others.length === 0 ? 'nothing is stopped, as far as you may see' : `stopped is: ${others.join(', ')}`,
    )
  }
  await query('select agents.fn_resume($1, $2, $3)', [team, scope, subject])
}

export interface Budget {
  readonly scope: 'agent' | 'profile'
  readonly subject: string
  readonly seconds: number
  readonly maxCalls: number | null
  readonly maxCost: number | null
}

/** With what is used of it in the window of now, which ends then. */
export interface UsedBudget extends Budget {
  /** Null where it is another's, and the asker an agent. */
  readonly usedCalls: number | null
  /** With what is held back for calls that have not ended; null where cost is not limited. */
  readonly usedCost: number | null
  readonly until: Date
}

export const listBudgets = ({ query }: Asking, team: string): Promise<readonly UsedBudget[]> =>
  query(
    `select scope, subject, extract(epoch from span)::float8 as seconds, max_calls::float8 as "maxCalls", max_cost::float8 as "maxCost", used_calls::float8 as "usedCalls", used_cost::float8 as "usedCost", until
      from agents.fn_list_budgets($1)`,
    [team],
  )

export const removeBudget = async (
  { query }: Asking,
  team: string,
  { scope, subject, seconds }: Pick<Budget, 'scope' | 'subject' | 'seconds'>,
): Promise<void> => {
  await query('select agents.fn_remove_budget($1, $2, $3, $4::interval)', [
    team,
    scope,
    subject,
    `${String(seconds)} seconds`,
  ])
}

export const setBudget = async (
  { query }: Asking,
  team: string,
  { scope, subject, seconds, maxCalls, maxCost }: Budget,
): Promise<void> => {
  await query('select agents.fn_set_budget($1, $2, $3, $4::interval, $5, $6)', [
    team,
    scope,
    subject,
    `${String(seconds)} seconds`,
    maxCalls,
    maxCost,
  ])
}
