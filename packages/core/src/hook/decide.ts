// Decides about one call of an agent, by the same gate, rules and policies as `cordon run`, and records the decision.
// A shell command is judged as the call of `cordon run` that it becomes. That run is judged again when it starts.
import { randomUUID } from 'node:crypto'
import { dirname, resolve } from 'node:path'

import { bug, fail } from '../errors/index.js'
import { createGate, createSessionCount, describeTool, pathRead, pathWrite } from '../gate/index.js'
import type { Evaluation, GateTool, JsonObject } from '../gate/index.js'
import { escapeGlob, isWithinPath, parsePolicy } from '../policy/index.js'
import type { AbsolutePath } from '../policy/index.js'
import { commandWords } from './command/index.js'
import { auditOwnFiles, openAuditLog } from '../runtime/audit/index.js'
import { createEventStream, decided, denied, recordArguments } from '../runtime/events/index.js'
import { shieldOwnFiles } from '../runtime/own-files/index.js'
import { listOnHost, resolveOnHost } from '../runtime/settings/index.js'

import type { Arguments } from '../line/arguments.js'
import type { Environment } from '../line/command-line.js'
import { wayOutOfGrants } from './program/program-facts.js'
import { parseRun } from '../run/request/run-request.js'
import type { RunOrder } from '../run/request/run-request.js'
import { recordSettingsOf } from '../run/perform-run.js'
import { prepareRun } from '../run/prepare-run.js'
import type { PreparedRun } from '../run/run-gate.js'
import { inputOf } from '../run/run-tool.js'
import { auditPathOf, stateFolderOf } from '../settings/own-folders.js'
import type { Agent, AgentCall, Verdict } from './agent.js'
import { hiddenFromSearch } from './hidden-from-search.js'
import { rememberApproval } from './host-approval.js'
import { unreadable } from './message.js'
import { rewritten, runOptions } from './rewrite.js'

export interface Asked {
  readonly agent: Agent
  readonly call: AgentCall
  readonly message: JsonObject
  /** The options of `cordon hook`. */
  readonly given: Arguments
  readonly environment: Environment
}

export const decide = async (asked: Asked): Promise<Verdict> => {
  const { agent, call, message, given, environment } = asked
  const runsInCell = call.action.kind === 'shell' && !given.switches.has('no-cell')
  const workspace = given.values.get('workspace')?.[0] ?? call.workspace
  if (workspace?.startsWith('/') !== true)
    throw unreadable(agent.name, 'does not say which folder is the project; install the hook with --project')
  const options = runOptions(given, workspace, environment)
  const order = await orderOf(options, call, environment)
  requireNarrowWorkspace(agent, order)
  const problem = runsInCell ? agent.cellProblem?.(message) : undefined
  if (problem !== undefined) throw fail('hook-cell-impossible', problem)
  const evaluation = await evaluate(asked, order)
  const { decision } = evaluation
  const commandIn = (session: (command: string) => string | undefined): string | undefined =>
    call.action.kind === 'shell' && runsInCell
      ? rewritten(agent.name, options, call.action.command, session(call.action.command))
      : undefined
  switch (evaluation.kind) {
    case 'permitted':
      return { kind: 'run', command: commandIn(() => undefined), isAllowed: decision.decision_source === 'rule' }
    case 'asking':
      // The run that the person then lets start is asked about again, and has nobody to ask.
      return {
        kind: 'ask',
        command: commandIn((command) =>
          rememberApproval(agent, decision, command, stateFolderOf(environment, order.home)),
        ),
        reason: `Cordon asks: ${evaluation.why}${knownOf(agent, call)}`,
      }
    case 'refused':
      return { kind: 'deny', reason: `${denialText(evaluation)}${knownOf(agent, call)}` }
    case 'substituted':
      return bug('a hook of the gate answers, and there is none')
  }
}

/** The workspace is a real path too. */
const realHome = (home: AbsolutePath): AbsolutePath => {
  const found = resolveOnHost(home)
  return found.kind === 'object' ? found.path : home
}

/** A project that holds the home would give tools the settings of everything. */
export const requireNarrowWorkspace = ({ name }: Agent, { policy, home, workspace }: RunOrder): void => {
  if (policy.presets.includes('workspace') && isWithinPath(realHome(home), workspace))
    throw fail('hook-workspace-too-wide', { workspace, agent: name })
}

/** The run that a shell command becomes. For other tools it has the same grants and no command of its own. */
const orderOf = (options: Arguments['values'], call: AgentCall, environment: Environment): Promise<RunOrder> => {
  const { action, cwd } = call
  const values = new Map([...options, ['cwd', [cwd]], ['read', [...(options.get('read') ?? []), ...readOutputs(call)]]])
  const rest = action.kind === 'shell' ? commandWords(action.command) : ['true']
  return parseRun({ switches: new Set(), values, rest }, environment)
}

/** Grants single files in the agent's folders of outputs, to file tools alone: a folder may have outputs of others. */
const readOutputs = ({ action, outputs = [], cwd }: AgentCall): readonly string[] =>
  action.kind !== 'files' || action.write.length > 0
    ? []
    : action.read
        .map((path) => resolve(cwd, path))
        .filter((path) => outputs.includes(dirname(path)))
        .map(escapeGlob)

const evaluate = async (asked: Asked, order: RunOrder): Promise<Evaluation> => {
  const { agent, call, message, given, environment } = asked
  const mayAsk = agent.canAsk(message)
  const audit = await openAuditLog({ path: auditPathOf(environment, order.home) })
  try {
    const restart = wayOutOfGrants(`cordon hook install ${agent.name}`)
    const kind = given.switches.has('from-package') ? 'command' : { restart }
    const prepared = prepareRun(order, mayAsk, environment, kind)
    const boundary = shieldOwnFiles(prepared.tool.boundary, auditOwnFiles(audit.places), order.cwd)
    const { tool, input } = judgedCall(call, { ...prepared, tool: { ...prepared.tool, boundary } })
    const sessionId = randomUUID()
    const events = createEventStream({
      sessionId,
      now: Date.now,
      newId: randomUUID,
      record: audit.append,
      context: { agent: agent.name },
    })
    const gate = createGate({
      tools: [tool],
      ruleSets: prepared.ruleSets,
      mode: prepared.mode,
      hooks: [],
      sessionId,
      isInteractive: mayAsk,
      policySources: order.policySources,
      now: Date.now,
      newId: randomUUID,
      resolvePath: resolveOnHost,
      listFolder: listOnHost,
      wait: () => ({ over: new Promise(() => undefined), cancel: () => undefined }),
    })
    const callId = randomUUID()
    const evaluation = await gate.decide({
      callId,
      tool: tool.name,
      input,
      count: createSessionCount({}),
      requestedBy: agent.name,
      waysToAllow: [
        `add to the rules in ${prepared.ruleFile}: - { effect: allow, tool: ${JSON.stringify(tool.name)}, because: say why }`,
      ],
    })
    const recorded = recordArguments(evaluation.inputs.call, recordSettingsOf(environment))
    await Promise.all([
      events.emit({ type: 'session.started', call_id: null, permission_state: gate.state() }),
      events.emit(decided(evaluation, recorded)),
      ...(evaluation.kind === 'refused' ? [events.emit(denied(evaluation))] : []),
      events.emit({ type: 'session.ended', call_id: null, reason: `the hook of ${agent.name} answered`, calls: 0 }),
    ])
    return evaluation
  } finally {
    await audit.close()
  }
}

/** Nothing but the paths of a file tool is judged: its other fields are content. */
const FILE_SCHEMA = {
  type: 'object',
  properties: {
    read: { type: 'array', items: pathRead() },
    write: { type: 'array', items: pathWrite() },
  },
}

const judgedCall = (
  { tool: name, action }: AgentCall,
  { order, tool, environment }: PreparedRun,
): { readonly tool: GateTool; readonly input: JsonObject } => {
  const { policy, workspace, home, cwd } = order
  const declared = { name, kind: 'in-process', workspace, home, cwd } as const
  switch (action.kind) {
    case 'shell':
      return { tool, input: inputOf(order, order.argv, environment['PATH'] ?? '') }
    case 'files': {
      // The paths decide, so no question about the tool as a whole is left.
      const described = describeTool({
        ...declared,
        // What commands can read in a cell, file tools can read too.
        policy: { ...policy, presets: [...policy.presets, 'system'], risk: { kind: 'declared', level: 'low' } },
        schema: FILE_SCHEMA,
      })
      const isReadOnly = action.write.length === 0
      const held = { boundary: { ...tool.boundary, risk: described.boundary.risk }, noStance: [], needsApproval: false }
      const hidden = (action.searched ?? []).flatMap((search) => hiddenFromSearch(search, tool.boundary, order))
      const read = [...new Set([...action.read, ...hidden])]
      return { tool: { ...described, ...held, isReadOnly }, input: { read, write: action.write } }
    }
    case 'harmless':
      return { tool: { ...unconfined(declared, 'low'), isReadOnly: true }, input: {} }
    case 'other':
      return { tool: unconfined(declared, 'unknown'), input: action.input }
  }
}

const unconfined = (declared: Omit<Parameters<typeof describeTool>[0], 'policy'>, risk: 'low' | 'unknown'): GateTool =>
  describeTool({ ...declared, policy: parsePolicy({ risk }, declared.name), argumentGate: 'off' })

/** What Cordon knows about a tool that it cannot judge by its input. */
const knownOf = ({ title }: Agent, { tool, action }: AgentCall): string => {
  if (action.kind === 'files' && (action.searched ?? []).length > 0)
    return '. A search is denied if its folder has a file that no tool may read. Search a folder without such a file.'
  if (action.kind !== 'other') return ''
  if (/^mcp[_:]/i.test(tool)) return `. ${tool} is a tool of an MCP server, which runs outside of any cell.`
  return action.known === undefined
    ? `. Cordon does not know the tool ${tool} of ${title}: it may read or change files, or use the network.`
    : `. ${tool} of ${title} ${action.known}.`
}

/** For the model. The user finds the rest with `cordon why`. */
const denialText = ({ decision, denial }: Extract<Evaluation, { kind: 'refused' }>): string =>
  `${decision.agent_reason ?? denial.agentMessage} (Cordon; the user can see why: cordon why ${decision.call_id.slice(0, 8)})`
