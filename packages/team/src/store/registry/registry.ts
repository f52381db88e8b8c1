// Tools of a team, their assignments to agents, and new members.
import { CordonError } from 'cordon/errors'
import { beyond, describeWitness, parsePolicy, TOOL_KINDS } from 'cordon/policy'
import type { ToolKind } from 'cordon/policy'

import type { Queryable } from '../engine.js'
import { storeMissing } from '../engine/sql-error.js'
import type { Invocation } from './call-answers.js'
import { callFunction, callProcedure, columnsOf, jsonText, listFrom } from './statements.js'
import { ASSIGNMENT, TOOL } from './team-answers.js'
import type { MemberKind, RegisteredTool } from './team-answers.js'

/** Defaults: `egressClass` is `write`, and `authMethod` is `api_key` with a credential, `none` without. */
export type ToolRegistration = Pick<RegisteredTool, 'owner' | 'key'> & {
  readonly [Key in Exclude<keyof RegisteredTool, MadeByDatabase>]?: NonNullable<RegisteredTool[Key]>
}

type MadeByDatabase = 'id' | 'owner' | 'key' | 'status' | 'version' | 'review' | 'widening' | 'registeredBy'

const TOOL_EXPRESSIONS = {
  inputSchema: 'schema_input',
  outputSchema: 'schema_output',
  expectedCost: 'expected_cost::float8',
}
const TOOL_COLUMNS = columnsOf(TOOL, TOOL_EXPRESSIONS)

/**
 * Registers a tool, or its next version. Approvals of the old version do not apply to the new one. A version that may
 * do more than the last usable one waits for `approveTool`.
 */
export const registerTool = async (session: Queryable, tool: ToolRegistration): Promise<string> => {
  const { owner, key, egressClass, authMethod, httpMethod, endpointUrl, credentialRef, approvalsNeeded } = tool
  const { description, category, requiresApproval, isDangerous, needsLabels, needsBoundary, expectedCost } = tool
  const given = {
    owner,
    key,
    name: tool.name ?? key,
    description,
    category,
    egressClass,
    requiresApproval,
    isDangerous,
    endpointUrl,
    httpMethod,
    authMethod,
    credentialRef,
    needsLabels,
    needsBoundary,
    approvalsNeeded,
    expectedCost,
    schemaInput: json(tool.inputSchema),
    schemaOutput: json(tool.outputSchema),
    definition: json(tool.definition),
    prices: json(tool.prices),
    ...(await comparedWithUsable(session, tool)),
  }
  return thenRejectSuperseded(session, callFunction(session, 'fn_register_tool', given), owner)
}

/**
 * What the new version may do that the last usable one may not. The database cannot compare policies, so the process
 * that registers does, and the database believes only a gateway. It compares everything else itself.
 */
const comparedWithUsable = async ({ query }: Queryable, { owner, key, definition = {} }: ToolRegistration) => {
  const [usable] = await query<{ version: number; rights: ToolRights }>(
    `select usable_version as version, usable_rights as rights from agents.tools_registry where owner = $1 and key = $2`,
    [owner, key],
  )
  return usable === undefined
    ? {}
    : { widening: jsonText(wideningOf(definition, usable.rights), 'the widening'), comparedWith: usable.version }
}

/** As in the `definition` of a tool: written by people, so nothing of it is sure. */
interface ToolRights {
  readonly kind?: unknown
  readonly policy?: unknown
}

const MOST_SENTENCES = 100

/** A sentence each. An empty list: the new version may do nothing more. */
const wideningOf = (now: ToolRights, before: ToolRights): readonly string[] => {
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

const json = (value: object | undefined): string | undefined =>
  value === undefined ? undefined : jsonText(value, 'the tool')

/**
 * Makes the change of a tool or a profile, then rejects pending calls that would be refused today, with the reason.
 * Their callers are notified.
 */
export const thenRejectSuperseded = async <Result>(
  session: Queryable,
  change: Promise<Result>,
  owner?: string,
): Promise<Result> => {
  const result = await change
  // No such call can be approved or claimed any more. Upkeep rejects those that are missed here.
  await callProcedure(session, 'fn_reject_superseded', { owner }).catch((error: unknown) => {
    if (!(error instanceof CordonError)) throw error
  })
  return result
}

export const listTools = listFrom(TOOL, 'agents.tools_registry where owner = $1 order by key', TOOL_EXPRESSIONS)

/** The tool of a call, or null where it has another version now. */
export const findVersion = async (
  { query }: Queryable,
  { toolId, toolVersion }: Pick<Invocation, 'toolId' | 'toolVersion'>,
): Promise<RegisteredTool | null> =>
  (
    await query<RegisteredTool>(`select ${TOOL_COLUMNS} from agents.tools_registry where id = $1 and version = $2`, [
      toolId,
      toolVersion,
    ])
  )[0] ?? null

export const requireTool = async ({ query }: Queryable, owner: string, key: string): Promise<RegisteredTool> => {
  const [found] = await query<RegisteredTool>(
    `select ${TOOL_COLUMNS} from agents.tools_registry where owner = $1 and key = $2`,
    [owner, key],
  )
  if (found === undefined) throw storeMissing(`${owner} has no tool ${key}`)
  return found
}

export const assignTool = (session: Queryable, agent: string, tool: string, profile?: string): Promise<void> =>
  thenRejectSuperseded(session, callProcedure(session, 'fn_assign_tool', { agent, tool, profile }))

export const revokeTool = (session: Queryable, agent: string, tool: string): Promise<void> =>
  thenRejectSuperseded(session, callProcedure(session, 'fn_revoke_tool', { agent, tool }))

/** Lets people call a version that may do more than the one before. */
export const approveTool = (session: Queryable, tool: string, version: number, reason?: string): Promise<void> =>
  callProcedure(session, 'fn_approve_tool_version', { tool, version, reason: reason ?? null })

export const listAssignments = listFrom(
  ASSIGNMENT,
  `agents.tool_assignments a join agents.tools_registry t on t.id = a.tool_id
    left join agents.tool_profiles p on p.id = a.profile_id where a.owner = $1 order by t.key, a.agent`,
  { agent: 'a.agent', tool: 't.key', profile: 'p.name', isAllowed: 'a.allowed' },
)

export const addMember = (session: Queryable, owner: string, actor: string, kind: MemberKind): Promise<void> =>
  callProcedure(session, 'fn_add_member', { owner, actor, kind })
