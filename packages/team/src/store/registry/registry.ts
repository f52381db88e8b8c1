// Tools of a team, their assignments to agents, and new members.
import type { Queryable } from '../engine.js'
import { missing } from '../engine/ways-out.js'
import type { Invocation } from './call-answers.js'
import { jsonText } from './json-text.js'
import { callFunction, callProcedure, columnsOf } from './statements.js'
import { thenRejectSuperseded } from './superseded.js'
import { TOOL } from './team-answers.js'
import type { Assignment, MemberKind, RegisteredTool } from './team-answers.js'
import { wideningOf } from './widening.js'
import type { ToolRights } from './widening.js'

/** Defaults: `egressClass` is `write`, and `authMethod` is `api_key` with a credential, `none` without. */
export type ToolRegistration = Pick<RegisteredTool, 'owner' | 'key'> & {
  readonly [Key in Exclude<keyof RegisteredTool, MadeByDatabase>]?: NonNullable<RegisteredTool[Key]>
}

type MadeByDatabase = 'id' | 'owner' | 'key' | 'status' | 'version' | 'review' | 'widening' | 'registeredBy'

const TOOL_COLUMNS = columnsOf(TOOL, {
  inputSchema: 'schema_input',
  outputSchema: 'schema_output',
  expectedCost: 'expected_cost::float8',
})

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

/** The database compares everything but the policy and the kind. */
const comparedWithUsable = async (
  { query }: Queryable,
  { owner, key, definition = {} }: ToolRegistration,
): Promise<{ readonly widening?: string; readonly comparedWith?: number }> => {
  const [usable] = await query<{ version: number; rights: ToolRights }>(
    `select usable_version as version, usable_rights as rights from agents.tools_registry where owner = $1 and key = $2`,
    [owner, key],
  )
  return usable === undefined
    ? {}
    : { widening: jsonText(wideningOf(definition, usable.rights), 'the widening'), comparedWith: usable.version }
}

const json = (value: object | undefined): string | undefined =>
  value === undefined ? undefined : jsonText(value, 'the tool')

export const listTools = ({ query }: Queryable, owner: string): Promise<readonly RegisteredTool[]> =>
  query(`select ${TOOL_COLUMNS} from agents.tools_registry where owner = $1 order by key`, [owner])

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
  if (found === undefined) throw missing(`${owner} has no tool ${key}`)
  return found
}

export const assignTool = (session: Queryable, agent: string, tool: string, profile?: string): Promise<void> =>
  thenRejectSuperseded(session, callProcedure(session, 'fn_assign_tool', { agent, tool, profile }))

export const revokeTool = (session: Queryable, agent: string, tool: string): Promise<void> =>
  thenRejectSuperseded(session, callProcedure(session, 'fn_revoke_tool', { agent, tool }))

export const setToolStatus = (session: Queryable, tool: string, status: RegisteredTool['status']): Promise<void> =>
  callProcedure(session, 'fn_set_tool_status', { tool, status })

/** Lets people call a version that may do more than the one before. */
export const approveTool = (session: Queryable, tool: string, version: number, reason?: string): Promise<void> =>
  callProcedure(session, 'fn_approve_tool_version', { tool, version, reason: reason ?? null })

export const listAssignments = ({ query }: Queryable, owner: string): Promise<readonly Assignment[]> =>
  query(
    `select a.agent, t.key as tool, p.name as profile, a.allowed as "isAllowed" from agents.tool_assignments a
      join agents.tools_registry t on t.id = a.tool_id left join agents.tool_profiles p on p.id = a.profile_id where a.owner = $1 order by t.key, a.agent`,
    [owner],
  )

export const addMember = (session: Queryable, owner: string, actor: string, kind: MemberKind): Promise<void> =>
  callProcedure(session, 'fn_add_member', { owner, actor, kind })
