// Cordon for the Claude Agent SDK (package `@anthropic-ai/claude-agent-sdk`). A hook decides the agent's own tools, as
// `cordon hook claude-code` does. The tools of a runtime are those of an MCP server. Nothing of the SDK is loaded.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

import { toModel } from 'cordon'
import { claudeCodeEntry, installedCommand, ownProgram } from 'cordon/commands'
import type { ClaudeCodeEntry } from 'cordon/commands'
import { fail } from './errors.js'
import { createSdkCalls } from './sdk-calls.js'
import type { AdapterOptions, SdkCalls, SdkRuntime, SuspendedCall, Suspending } from './sdk-calls.js'

export type { SuspendedCall }

export interface ClaudeAgentOptions extends AdapterOptions {
  /** The folder of the project: the working directory and the workspace of the agent's own tools. */
  readonly workspace: string
  /** Options of `cordon hook` for the agent's own tools: `['--policy', 'npm', '--rules', '/etc/agent-rules.yaml']`. */
  readonly hook?: readonly string[]
}

export interface ClaudeAgentTools extends Suspending {
  /** For `options` of `query`. Add yours beside them. */
  readonly options: QueryOptions
}

/** These are options of the SDK. Its package is large, so its types are not taken from there. */
export interface QueryOptions {
  cwd: string
  settings: { disableAllHooks: false; hooks: { PreToolUse: ClaudeCodeEntry[] } }
  hooks: { PreToolUse: { matcher: string; hooks: ((input: unknown) => Promise<HookAnswer>)[]; onFailure: 'block' }[] }
  mcpServers: Record<typeof SERVER, { type: 'sdk'; name: typeof SERVER; instance: McpServer }>
  allowedTools: string[]
}

interface HookAnswer {
  hookSpecificOutput?: {
    hookEventName: 'PreToolUse'
    permissionDecision: 'allow' | 'deny' | 'defer'
    permissionDecisionReason?: string
  }
}

const SERVER = 'cordon'
const PREFIX = `mcp__${SERVER}__`

export const claudeAgent = (cordon: SdkRuntime, options: ClaudeAgentOptions): ClaudeAgentTools => {
  const { workspace, hook = [], ...others } = requireWorkspace(options)
  const calls = createSdkCalls(cordon, others)
  const denials = new Map<string, string>()
  const names = calls.tools.map(({ modelName }) => `${PREFIX}${modelName}`)
  // Each name in full: a server `cordon__x` also begins with the prefix.
  const own = `(?:${names.join('|')})$`
  // A copy elsewhere would hold no more: this very program runs from the package too. No tool can change it.
  const words = ['hook', 'claude-code', '--from-package', '--workspace', workspace, ...hook]
  const command = installedCommand([...ownProgram(), ...words], 'install the package cordon again')
  return {
    suspended: calls.suspended,
    answer: async (call, answer) => {
      await calls.answer(call, answer)
      if (answer?.kind === 'deny') denials.set(call.id, answer.reason)
    },
    options: {
      cwd: workspace,
      // A command, because Claude Code goes on without a function of the program that does not answer in time. These
      // settings win over those of the project, which could turn hooks off.
      settings: { disableAllHooks: false, hooks: { PreToolUse: [claudeCodeEntry(command, `^(?!${own})`)] } },
      hooks: {
        PreToolUse: [
          {
            matcher: `^${own}`,
            hooks: [(input) => answerHook(calls, denials, input as HookInput)],
            onFailure: 'block',
          },
        ],
      },
      mcpServers: { [SERVER]: { type: 'sdk', name: SERVER, instance: serverOf(calls) } },
      allowedTools: names,
    },
  }
}

/** Code in JavaScript may have left it out. */
const requireWorkspace = (options: Partial<ClaudeAgentOptions> | undefined): ClaudeAgentOptions => {
  const { workspace } = options ?? {}
  if (typeof workspace === 'string' && workspace !== '') return { ...options, workspace }
  throw fail('option-invalid', {
    of: 'claudeAgent()',
    option: 'workspace',
    expected: 'the folder of the project',
    found: typeof workspace,
    fix: 'claudeAgent(cordon, { workspace: process.cwd() })',
  })
}

interface HookInput {
  readonly tool_name: string
  readonly tool_input: unknown
  readonly tool_use_id: string
  readonly mcp_server?: { readonly source: string }
}

/** Ends the run at a call that somebody has to approve. The gate judges the call itself when it runs. */
const answerHook = async (
  calls: SdkCalls,
  denials: ReadonlyMap<string, string>,
  { tool_name: name, tool_input: input, tool_use_id: id, mcp_server: server }: HookInput,
): Promise<HookAnswer> => {
  if (server?.source !== 'sdk') return decision('deny', 'A server of the project has the name of the one of Cordon.')
  const denial = denials.get(id)
  if (denial !== undefined) return decision('deny', denial)
  await calls.suspend({ id, tool: name.slice(PREFIX.length), input })
  return calls.suspended().some((call) => call.id === id) ? decision('defer') : {}
}

const decision = (permissionDecision: 'deny' | 'defer', reason?: string): HookAnswer => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision,
    ...(reason === undefined ? {} : { permissionDecisionReason: reason }),
  },
})

const serverOf = (calls: SdkCalls): McpServer => {
  const server = new McpServer({ name: SERVER, version: '1' }, { capabilities: { tools: {} } })
  // `registerTool` takes only schemas of zod.
  server.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: calls.tools.map(({ modelName: name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: 'object' as const },
      // Otherwise the model has to search for the tool first.
      _meta: { 'anthropic/alwaysLoad': true },
    })),
  }))
  server.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { _meta, signal }) => {
    const id = _meta?.['claudecode/toolUseId']
    const call = { id: typeof id === 'string' ? id : '', tool: params.name, input: params.arguments ?? {}, signal }
    const { text, isError } = toModel(await calls.run(call))
    return { content: [{ type: 'text', text }], isError }
  })
  return server
}
