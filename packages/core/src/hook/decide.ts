// Decides about one call of an agent, by the same gate, rules and policies as `cordon run`, and records the decision.
// A shell command is judged as the call of `cordon run` that it becomes. That run is judged again when it starts.
import { randomUUID } from 'node:crypto'
import { dirname, resolve } from 'node:path'

import { bug, fail } from '../errors/index.js'
import { createSessionCount, describeTool, pathRead, pathWrite } from '../gate/index.js'
import type { Evaluation, GateTool, JsonObject } from '../gate/index.js'
import { statusAt } from '../platform/index.js'
import { escapeGlob, isWithinPath, parsePolicy } from '../policy/index.js'
import type { AbsolutePath, Boundary } from '../policy/index.js'
import { openGate, openRecord } from '../runtime/assemble/index.js'
import { recordArguments } from '../runtime/events/index.js'
import { resolveOnHost } from '../runtime/settings/index.js'
import { surveyCarveOuts } from '../sandbox/index.js'

import type { Arguments } from '../line/arguments.js'
import type { CommandLine } from '../line/caller.js'
import { stateFolderOf } from '../settings/own-folders.js'
import { recordDecision, recordSettingsOf, shieldedFrom, withLog } from '../run/record.js'
import { parseRun } from '../run/request/run-request.js'
import type { RunOrder } from '../run/request/run-request.js'
import type { PreparedRun } from '../run/run-gate.js'
import { NotServed } from '../run/run-seat.js'
import { inputOf } from '../run/run-tool.js'
import { wayOutOfGrants } from './program/program-facts.js'
import type { Agent, AgentCall, Search, Verdict } from './agent.js'
import type { HookSeat } from './hook-seat.js'
import { rememberApproval } from './host-approval.js'
import { commandWords } from './installed-command.js'
import { unreadable } from './message.js'
import { rewritten, runOptions } from './rewrite.js'

export interface HookRequest extends CommandLine {
  readonly agent: Agent
  readonly call: AgentCall
  readonly message: JsonObject
  readonly seat: HookSeat
}

export const decide = async (asked: HookRequest): Promise<Verdict> => {
  const { agent, call, message, given, environment } = asked
  const shell = call.action.kind === 'shell' && !given.switches.has('no-cell') ? call.action.command : undefined
  const workspace = given.values.get('workspace')?.[0] ?? call.workspace
  if (workspace?.startsWith('/') !== true)
    throw unreadable(agent.name, 'does not say which folder is the project; install the hook with --project')
  const options = runOptions(agent.name, given, workspace, environment)
  const prepared = await prepare(asked, { ...asked, given: runOf(options, call) })
  const { order, tool } = prepared
  asked.seat.refuse([order.cwd, ...[...tool.boundary.read, ...tool.boundary.write].map(({ base }) => base)])
  requireNarrowWorkspace(agent, order)
  const problem = shell === undefined ? undefined : agent.cellProblem?.(message)
  if (problem !== undefined) throw fail('hook-cell-impossible', problem)
  const evaluation = await evaluate(asked, prepared)
  const { decision } = evaluation
  const inCell = (session?: string): string | undefined =>
    shell === undefined ? undefined : rewritten(options, shell, session, asked)
  switch (evaluation.kind) {
    case 'permitted':
      return { kind: 'run', command: inCell(), isAllowed: decision.decision_source === 'rule' }
    case 'asking': {
      // The run that the person then lets start is asked about again, and has nobody to ask.
      const stateFolder = stateFolderOf(environment, order.home)
      const session = shell === undefined ? undefined : rememberApproval(agent, decision, shell, stateFolder)
      return {
        kind: 'ask',
        command: inCell(session),
        reason: `Cordon asks: ${evaluation.why}${knownOf(agent, call)}`,
      }
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
const runOf = (options: Arguments['values'], call: AgentCall): Arguments => {
  const { action, cwd } = call
  const values = new Map([...options, ['cwd', [cwd]], ['read', [...(options.get('read') ?? []), ...readOutputs(call)]]])
  const rest = action.kind === 'shell' ? commandWords(action.command) : ['true']
  return { switches: new Set(), values, rest }
}

const prepare = async ({ agent, message, given, seat }: HookRequest, line: CommandLine): Promise<PreparedRun> => {
  const restart = wayOutOfGrants(`cordon hook install ${agent.name}`)
  try {
    return await seat.prepare(line, agent.canAsk(message), given.switches.has('from-package') ? 'command' : { restart })
  } catch (error) {
    if (error instanceof NotServed) throw error
    // What is wrong with the workspace explains the rest.
    requireNarrowWorkspace(agent, await parseRun(line.given, line))
    throw error
  }
}

/** Grants single files in the agent's folders of outputs, to file tools alone: a folder may have outputs of others. */
const readOutputs = ({ action, outputs = [], cwd }: AgentCall): readonly string[] =>
  action.kind !== 'files' || action.write.length > 0
    ? []
    : action.read
        .map((path) => resolve(cwd, path))
        .filter((path) => outputs.includes(dirname(path)))
        .map(escapeGlob)

const evaluate = ({ agent, call, environment, seat }: HookRequest, unshielded: PreparedRun): Promise<Evaluation> => {
  const { order, isInteractive } = unshielded
  return withLog(seat.openLog(environment, order.home), async (audit) => {
    const prepared = shieldedFrom(audit, unshielded)
    const { ruleSets, mode, ruleFile } = prepared
    const { tool, input } = judgedCall(call, prepared, seat)
    const events = openRecord({ record: audit.append, context: { agent: agent.name } })
    const resolved: string[] = []
    const gate = openGate({
      tools: [tool],
      resolvePath: (path) => {
        resolved.push(path)
        return resolveOnHost(path)
      },
      ruleSets,
      mode,
      sessionId: events.sessionId,
      isInteractive,
      policySources: order.policySources,
    })
    const evaluation = await gate.decide({
      callId: randomUUID(),
      tool: tool.name,
      input,
      count: createSessionCount({}),
      requestedBy: agent.name,
      waysToAllow: () => [
        `add to the rules in ${ruleFile}: - { effect: allow, tool: ${JSON.stringify(tool.name)}, because: say why }`,
      ],
    })
    seat.refuse(resolved)
    const { decision, inputs, kind: outcome } = evaluation
    const recorded = recordArguments(inputs.call, recordSettingsOf(environment))
    await recordDecision(events, { decision, state: gate.state() }, recorded, {
      isDenied: outcome === 'refused',
      because: `the hook of ${agent.name} answered`,
    })
    return evaluation
  })
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
  seat: HookSeat,
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
      const hidden = (action.searched ?? []).flatMap((search) => hiddenFromSearch(search, tool.boundary, order, seat))
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

/**
 * What a search would find although no grant lets a tool read it. The folder of a search is granted, and carve-outs may
 * lie in it. No cell hides them, because the agent itself searches. The gate, which judges `path` too, denies what
 * cannot be resolved.
 */
const hiddenFromSearch = (
  { path, takes }: Search,
  boundary: Boundary,
  { cwd, home }: RunOrder,
  seat: HookSeat,
): readonly AbsolutePath[] => {
  const text = path.trim()
  const searched = resolve(cwd, /^~(?:\/|$)/.test(text) ? `${home}${text.slice(1)}` : text)
  const found = resolveOnHost(searched)
  seat.refuse([searched])
  if (found.kind === 'unknown' || statusAt(found.path)?.isDirectory() !== true) return []
  const folder = found.path
  return (
    surveyCarveOuts(boundary, [{ path: folder, object: 'directory' }])
      // The name of a file is no secret: a cell shows it, too.
      .hidden.filter((each) => isWithinPath(each.path, folder) && (takes === 'contents' || each.object === 'directory'))
      .map((each) => each.path)
  )
}

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
