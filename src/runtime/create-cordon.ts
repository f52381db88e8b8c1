import { randomUUID } from 'node:crypto'
import { homedir } from 'node:os'

import { fail } from '../errors/index.js'
import { createGate, createInvocation, parseRules } from '../gate/index.js'
import type { ApprovalGrant, Classifier, Evaluation, GateCall, Hook, Invocation, InvocationBudget, Mode, PermissionState, RuleSet } from '../gate/index.js'
import type { Risk } from '../policy/index.js'
import { parseAbsolutePath } from '../policy/index.js'
import { openSandbox } from '../sandbox/index.js'
import type { Sandbox, SandboxOptions } from '../sandbox/index.js'

import { APPROVAL_DEFAULTS } from './approvals.js'
import type { ApprovalSettings, Approve } from './approvals.js'
import type { AuditSettings } from './audit/audit-log.js'
import { openAuditLog } from './audit/audit-log.js'
import { shieldAudit } from './audit/shield-audit.js'
import type { EventContext, EventType } from './events/event.js'
import { createEventStream } from './events/event-stream.js'
import type { Listener } from './events/event-stream.js'
import type { ArgumentSettings } from './events/recorded-arguments.js'
import { createExecutor } from './execute.js'
import { createFunctionCells } from './function-cells.js'
import { liveCall } from './life-of-a-call.js'
import type { CallServices } from './life-of-a-call.js'
import { createProcessCells } from './process-cells.js'
import { registerTool } from './registered-tool.js'
import type { RegisteredTool } from './registered-tool.js'
import { resolveOnHost } from './resolve-path.js'
import type { ToolResult } from './tool-result.js'
import type { ToolDefinition } from './tools.js'

export interface CordonOptions {
  readonly tools: readonly ToolDefinition[]
  /** What relative patterns are relative to; the working directory of every tool that names no other. */
  readonly workspace: string
  /** What `~` means; the home of the user when not given. */
  readonly home?: string
  readonly mode?: Mode
  /** Rule sets that were loaded (`loadRules`), or rules of this session as values. */
  readonly rules?: readonly (RuleSet | object)[]
  readonly hooks?: readonly Hook[]
  /** Asks somebody. Without it a call that would ask is `unavailable`, at once. */
  readonly approve?: Approve
  readonly approval?: { readonly timeout?: number; readonly otherwise?: 'deny' | 'approve' }
  readonly classify?: Classifier
  /** Where the record is kept; none when left out. */
  readonly audit?: AuditSettings
  /** How much of the arguments events tell. */
  readonly record?: ArgumentSettings
  /** Where variables that a policy passes on are taken from. Nothing of it is passed otherwise. */
  readonly environment?: Readonly<Record<string, string>>
  /** What one invocation (one `session` of calls) may do in all. */
  readonly budget?: InvocationBudget
  /** Who makes the calls; nobody by this name can approve one. */
  readonly requestedBy?: string
  readonly context?: EventContext
  readonly sandbox?: SandboxOptions
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Calls of one session count together: constraints and budgets are per session. */
  readonly session?: string
  readonly onProgress?: (value: unknown) => void
}

export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly kind: ToolDefinition['kind']
  readonly risk: Risk
  readonly input: ToolDefinition['schema']
}

/** Runs tools: every call is decided, recorded and held. Two of them share nothing. */
export interface Cordon {
  readonly call: (name: string, input: unknown, options?: CallOptions) => Promise<ToolResult>
  /** Decides without running, asking or counting. */
  readonly evaluate: (name: string, input: unknown, options?: Pick<CallOptions, 'session'>) => Promise<Evaluation>
  readonly listTools: () => readonly ListedTool[]
  readonly on: <Type extends EventType | '*'>(type: Type, listener: Listener<Type>) => () => void
  readonly state: () => PermissionState
  readonly close: () => Promise<void>
}

const MAIN_SESSION = 'main'

export const createCordon = async (options: CordonOptions): Promise<Cordon> => {
  const places = { workspace: parseAbsolutePath(options.workspace, 'workspace'), home: parseAbsolutePath(options.home ?? homedir(), 'home') }
  const audit = options.audit === undefined ? undefined : await openAuditLog(options.audit)
  const tools = new Map<string, RegisteredTool>()
  for (const definition of options.tools) {
    const registered = registerTool(definition, places)
    const boundary = audit === undefined ? registered.gate.boundary : shieldAudit(registered.gate.boundary, audit.places)
    tools.set(definition.name, { ...registered, gate: { ...registered.gate, boundary } })
  }
  const sessionId = randomUUID()
  const gate = createGate({
    tools: [...tools.values()].map((each) => each.gate),
    ruleSets: (options.rules ?? []).map((set, at) => ruleSetOf(set, at, places)),
    mode: options.mode ?? 'default',
    hooks: options.hooks ?? [],
    sessionId,
    isInteractive: options.approve !== undefined,
    policySources: [],
    resolvePath: resolveOnHost,
    now: Date.now,
    newId: randomUUID,
    wait,
    ...(options.classify === undefined ? {} : { classify: options.classify }),
  })
  const events = createEventStream({
    sessionId,
    now: Date.now,
    newId: randomUUID,
    ...(audit === undefined ? {} : { record: audit.append }),
    ...(options.context === undefined ? {} : { context: options.context }),
  })

  let opening: Promise<Sandbox> | undefined
  const sandbox = () => (opening ??= openSandbox(options.sandbox))
  const environment = options.environment ?? {}
  const services: CallServices = {
    gate,
    events,
    tools,
    executor: createExecutor({ processes: createProcessCells(sandbox, environment), functions: createFunctionCells(sandbox, environment) }, Date.now),
    approval: approvalOf(options),
    record: options.record ?? {},
    sessionId,
  }
  const invocations = new Map<string, Invocation>()
  const invocationOf = (session: string): Invocation => {
    const known = invocations.get(session) ?? createInvocation(options.budget === undefined ? {} : { budget: options.budget })
    invocations.set(session, known)
    return known
  }
  const approvals: ApprovalGrant[] = []
  const running = new Set<Promise<ToolResult>>()
  let calls = 0
  let closed = false

  const gateCall = (name: string, input: unknown, invocation: Invocation): GateCall => ({
    callId: randomUUID(),
    tool: name,
    input,
    invocation,
    requestedBy: options.requestedBy ?? 'agent',
    approvals,
  })
  await events.emit({ type: 'session.started', call_id: null, permission_state: gate.state() })

  return {
    call: async (name, input, { signal, session = MAIN_SESSION, onProgress } = {}) => {
      if (closed) throw fail('runtime-closed', {})
      calls += 1
      const call = gateCall(name, input, invocationOf(session))
      const result = liveCall(services, call, { signal, onProgress: onProgress ?? (() => undefined), onGrant: (grant) => approvals.push(grant) })
      running.add(result)
      try {
        return await result
      } finally {
        running.delete(result)
      }
    },
    evaluate: async (name, input, { session = MAIN_SESSION } = {}) => {
      const invocation = createInvocation({ state: invocationOf(session).state(), ...(options.budget === undefined ? {} : { budget: options.budget }) })
      return gate.decide(gateCall(name, input, invocation))
    },
    listTools: () => [...tools.values()].map(({ definition, gate: { boundary } }) => ({ name: definition.name, description: definition.description, kind: definition.kind, risk: boundary.risk.level, input: definition.schema })),
    on: events.on,
    state: gate.state,
    close: async () => {
      if (closed) return
      closed = true
      await (await opening?.catch(() => undefined))?.close()
      await Promise.allSettled(running)
      await events.emit({ type: 'session.ended', call_id: null, reason: 'closed', calls })
      await audit?.close()
    },
  }
}

const ruleSetOf = (set: RuleSet | object, at: number, places: { readonly workspace: RegisteredTool['cwd']; readonly home: RegisteredTool['cwd'] }): RuleSet =>
  'source' in set && 'rules' in set && 'managedOnly' in set ? (set) : parseRules(set, `rules[${String(at)}]`, { source: 'session', places })

const approvalOf = ({ approve, approval }: CordonOptions): ApprovalSettings | undefined => (approve === undefined ? undefined : { ...APPROVAL_DEFAULTS, ...approval, approve })

const wait = (milliseconds: number) => {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  return {
    over,
    cancel: () => {
      clearTimeout(timer)
    },
  }
}
