import type { Session } from '../engine.js'
import { jsonText } from './json-text.js'
import { thenRejectSuperseded } from './superseded.js'
import { missing } from '../engine/ways-out.js'

/** How a tool is known where it goes. */
export const AUTH_METHODS = ['none', 'api_key', 'oauth', 'service_account'] as const
export type AuthMethod = (typeof AUTH_METHODS)[number]

export interface ToolRegistration {
  readonly owner: string
  readonly key: string
  readonly name?: string
  readonly description?: string
  readonly category?: string
  readonly inputSchema?: object
  /** What comes of a call is held against it; what does not fit is kept, and said (`outputProblem`). */
  readonly outputSchema?: object
  /** Left out, `api_key` where it names a credential, and `none` where it does not. */
  readonly authMethod?: AuthMethod
  /** Left out, it is `write`. */
  readonly egressClass?: 'none' | 'read_only' | 'write'
  readonly requiresApproval?: boolean
  readonly isDangerous?: boolean
  readonly endpointUrl?: string
  readonly httpMethod?: string
  readonly credentialRef?: string
  /** How it is run; a runner takes it from here. */
  readonly definition?: object
  readonly needsLabels?: readonly string[]
  readonly needsBoundary?: readonly string[]
  readonly approvalsNeeded?: number
  /** What a call of it is expected to cost; held back from budgets until it has ended. */
  readonly expectedCost?: number
  readonly prices?: Prices
}

/** What can have a price. A megabyte is of 1,000,000 bytes, sent or received through the proxy. */
export const PRICED = ['call', 'cpu_second', 'wall_second', 'megabyte'] as const

/** What a call costs, in whatever a team counts in: the database measures it by these. */
export type Prices = { readonly [Each in (typeof PRICED)[number]]?: number }

export interface RegisteredTool {
  readonly id: string
  readonly owner: string
  readonly key: string
  readonly name: string
  readonly description: string
  readonly category: string
  readonly inputSchema: object
  readonly outputSchema: object | null
  readonly authMethod: AuthMethod
  readonly egressClass: 'none' | 'read_only' | 'write'
  readonly requiresApproval: boolean
  readonly status: 'active' | 'disabled' | 'deprecated'
  readonly definition: object
  readonly version: number
  readonly isDangerous: boolean
  readonly endpointUrl: string | null
  readonly httpMethod: string | null
  readonly credentialRef: string | null
  readonly needsLabels: readonly string[]
  readonly needsBoundary: readonly string[]
  readonly approvalsNeeded: number
  readonly expectedCost: number | null
  readonly prices: Prices | null
}

/** What is selected of `agents.tools_registry`, in the words of `RegisteredTool`. */
export const TOOL_COLUMNS = `id, owner, key, name, description, category, schema_input as "inputSchema", schema_output as "outputSchema", auth_method as "authMethod", egress_class as "egressClass", requires_approval as "requiresApproval", status, definition, version,
  is_dangerous as "isDangerous", endpoint_url as "endpointUrl", http_method as "httpMethod", credential_ref as "credentialRef", needs_labels as "needsLabels", needs_boundary as "needsBoundary", approvals_needed as "approvalsNeeded",
  expected_cost::float8 as "expectedCost", prices`

/** Registers a tool, or makes a new version of one. What was approved of the old one does not count for the new one. */
export const registerTool = async ({ query }: Pick<Session, 'query'>, tool: ToolRegistration): Promise<string> => {
  const given = {
    p_owner: tool.owner,
    p_key: tool.key,
    p_name: tool.name ?? tool.key,
    p_description: tool.description,
    p_category: tool.category,
    p_schema_input: json(tool.inputSchema),
    p_schema_output: json(tool.outputSchema),
    p_auth_method: tool.authMethod,
    p_egress_class: tool.egressClass,
    p_requires_approval: tool.requiresApproval,
    p_is_dangerous: tool.isDangerous,
    p_endpoint_url: tool.endpointUrl,
    p_http_method: tool.httpMethod,
    p_credential_ref: tool.credentialRef,
    p_definition: json(tool.definition),
    p_needs_labels: tool.needsLabels,
    p_needs_boundary: tool.needsBoundary,
    p_approvals_needed: tool.approvalsNeeded,
    p_expected_cost: tool.expectedCost,
    p_prices: json(tool.prices),
  }
  const present = Object.entries(given).filter(([, value]) => value !== undefined)
  const names = present.map(([name], at) => `${name} => $${String(at + 1)}`)
  const [row] = await thenRejectSuperseded(
    { query },
    query<{ id: string }>(
      `select agents.fn_register_tool(${names.join(', ')}) as id`,
      present.map(([, value]) => value),
    ),
    tool.owner,
  )
  return row?.id ?? ''
}

export const listTools = ({ query }: Pick<Session, 'query'>, owner: string): Promise<readonly RegisteredTool[]> =>
  query(`select ${TOOL_COLUMNS} from agents.tools_registry where owner = $1 order by key`, [owner])

export const findTool = async (
  { query }: Pick<Session, 'query'>,
  owner: string,
  key: string,
): Promise<RegisteredTool | undefined> =>
  (
    await query<RegisteredTool>(`select ${TOOL_COLUMNS} from agents.tools_registry where owner = $1 and key = $2`, [
      owner,
      key,
    ])
  )[0]

export const assignTool = async (
  { query }: Pick<Session, 'query'>,
  agent: string,
  toolId: string,
  profile?: string,
): Promise<void> => {
  await thenRejectSuperseded(
    { query },
    query('select agents.fn_assign_tool($1, $2, $3)', [agent, toolId, profile ?? null]),
  )
}

export const revokeTool = async ({ query }: Pick<Session, 'query'>, agent: string, toolId: string): Promise<void> => {
  await thenRejectSuperseded({ query }, query('select agents.fn_revoke_tool($1, $2)', [agent, toolId]))
}

export const requireTool = async (
  session: Pick<Session, 'query'>,
  owner: string,
  key: string,
): Promise<RegisteredTool> => {
  const found = await findTool(session, owner, key)
  if (found === undefined) throw missing(`${owner} has no tool ${key}`)
  return found
}

export const setToolStatus = async (
  { query }: Pick<Session, 'query'>,
  toolId: string,
  status: RegisteredTool['status'],
): Promise<void> => {
  await query('select agents.fn_set_tool_status($1, $2)', [toolId, status])
}

export interface Assignment {
  readonly agent: string
  readonly tool: string
  readonly profile: string | null
  readonly isAllowed: boolean
}

export const listAssignments = ({ query }: Pick<Session, 'query'>, owner: string): Promise<readonly Assignment[]> =>
  query(
    `select a.agent, t.key as tool, p.name as profile, a.allowed as "isAllowed" from agents.tool_assignments a
      join agents.tools_registry t on t.id = a.tool_id left join agents.tool_profiles p on p.id = a.profile_id where a.owner = $1 order by t.key, a.agent`,
    [owner],
  )

export type MemberKind = 'admin' | 'operator' | 'agent' | 'runner'

export const addMember = async (
  { query }: Pick<Session, 'query'>,
  owner: string,
  actor: string,
  kind: MemberKind,
): Promise<void> => {
  await query('select agents.fn_add_member($1, $2, $3)', [owner, actor, kind])
}

const json = (value: object | undefined): string | undefined =>
  value === undefined ? undefined : jsonText(value, 'the tool')
