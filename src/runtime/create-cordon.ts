// A runtime for the tools of an agent: its parts are put together here, and each call then goes through
// call/life-of-a-call.ts.
import { randomUUID } from 'node:crypto'

import { fail } from '../errors/index.js'
import type { ApprovalGrant, Evaluation, GateCall, HookSubject, HookVerdict, PermissionState } from '../gate/index.js'
import type { Risk } from '../policy/index.js'
import { parseAbsolutePath } from '../policy/index.js'

import { APPROVAL_DEFAULTS } from './approvals.js'
import type { ApprovalSettings } from './approvals.js'
import { bindTools } from './assemble/bind-tools.js'
import { openGate, waysToAllow } from './assemble/open-gate.js'
import { prepareCells } from './assemble/prepare-cells.js'
import { openAuditLog } from './audit/audit-log.js'
import type { AuditLog } from './audit/audit-log.js'
import { callTool } from './call/second-attempt.js'
import type { CallingServices } from './call/second-attempt.js'
import type { CallOptions, CordonOptions } from './cordon-options.js'
import type { EventType } from './events/event-types.js'
import { createEventStream } from './events/event-stream.js'
import type { Listener } from './events/event-stream.js'
import { connectTelemetry } from './events/telemetry.js'
import type { Telemetry } from './events/telemetry.js'
import { createRegisteredCalls, mechanismsIfAny, openCallRegistry } from './registry/index.js'
import type { CallRegistry, RegisteredCalls, RegistrySettings } from './registry/index.js'
import type { ToolResult } from './result/tool-result.js'
import { checkCallOptions, checkCordonOptions, checkEventType } from './settings/check-options.js'
import { ruleSetsOf } from './settings/rule-sets.js'
import { openState, sealState } from './settings/session-state.js'
import type { SessionState } from './settings/session-state.js'
import { createSessions } from './settings/sessions.js'
import type { Session } from './settings/sessions.js'
import { sameTool } from './tool-identity/same-tool.js'
import { requirePortable } from './tools/function-source.js'
import { requireKnownPrerequisites, requireKnownTools, warningsOfRules } from './tools/known-names.js'
import type { ToolDefinition } from './tools/tools.js'

export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly kind: ToolDefinition['kind']
  readonly risk: Risk
  readonly input: ToolDefinition['schema']
}

/** Runs tools: every call is decided, recorded and held. Two of them share nothing. */
export interface Cordon {
  /** Without an input it gets an empty mapping. */
  readonly call: (name: string, input?: unknown, options?: CallOptions) => Promise<ToolResult>
  /** Decides without running, asking or counting. */
  readonly evaluate: (name: string, input?: unknown, options?: Pick<CallOptions, 'session'>) => Promise<Evaluation>
  readonly listTools: () => readonly ListedTool[]
  readonly on: <Type extends EventType | '*'>(type: Type, listener: Listener<Type>) => () => void
  readonly state: () => PermissionState
  /** Counts and approvals of all sessions, sealed; for `state.resume` of the runtime that goes on with them. */
  readonly exportState: () => string
  /** Forgets a session: what is called by its name later begins anew. */
  readonly endSession: (session: string) => void
  /** Asks the hooks of a point that only the host sees: `user_prompt_submit`, `post_sampling`. */
  readonly runHooks: (
    point: 'user_prompt_submit' | 'post_sampling',
    subject: Pick<HookSubject, 'input' | 'output' | 'reason'>,
  ) => Promise<HookVerdict>
  /** What may be a mistake and is no error: rules of files that name tools which this runtime does not have. */
  readonly warnings: readonly string[]
  /** What hooks want the model to read from the start. */
  readonly context: readonly string[]
  readonly close: () => Promise<void>
}

const MAIN_SESSION = 'main'

export const createCordon = async (options: CordonOptions): Promise<Cordon> =>
  openCordon(options, () => (options.registry === undefined ? undefined : openTeamRegistry(options, options.registry)))

const openTeamRegistry = async (
  { tools, sandbox, ...places }: CordonOptions,
  registry: RegistrySettings,
): Promise<CallRegistry> =>
  openCallRegistry(
    registry,
    sameTool(tools, places),
    registry.execution === 'runners' ? [] : await mechanismsIfAny(sandbox),
  )

/** With a registry that is given. */
export const openCordon = async (
  options: CordonOptions,
  openRegistryFor: () => CallRegistry | undefined | Promise<CallRegistry>,
): Promise<Cordon> => {
  checkCordonOptions(options)
  for (const each of options.tools) requirePortable(each)
  const resumed = options.state === undefined ? undefined : openState(options.state)
  const audit = options.audit === undefined ? undefined : await openAuditLog(options.audit)
  let registry: CallRegistry | undefined
  try {
    registry = await openRegistryFor()
    return await assemble(options, resumed, audit, registry)
  } catch (error) {
    await registry?.close()
    await audit?.close()
    throw error
  }
}

const assemble = async (
  options: CordonOptions,
  resumed: SessionState | undefined,
  audit: AuditLog | undefined,
  registry: CallRegistry | undefined,
): Promise<Cordon> => {
  const registeredCalls = registry === undefined ? undefined : createRegisteredCalls(registry)
  const tools = bindTools(options, audit)
  const names = options.tools.map(({ name }) => name)
  const rules = ruleSetsOf(options, tools.places)
  requireKnownPrerequisites(options.tools)
  requireKnownTools(rules.own, names)
  const sessionId = randomUUID()
  const events = createEventStream({
    ...{ sessionId, now: Date.now, newId: randomUUID },
    ...(audit === undefined ? {} : { record: audit.append }),
    ...(options.context === undefined ? {} : { context: options.context }),
  })
  const gate = openGate(options, {
    tools: tools.list,
    ruleSets: [...rules.ofFiles, ...rules.own],
    events,
    registeredCalls,
  })
  const telemetry = options.telemetry === 'off' ? undefined : await connectTelemetry(events)
  const cells = prepareCells(options, tools)
  const services: CallingServices = {
    gate,
    events,
    tools: tools.byName,
    runner: cells.runner,
    approval: approvalOf(options, registeredCalls),
    registeredCalls,
    record: options.record ?? {},
    now: Date.now,
    begin: telemetry?.begin ?? (() => undefined),
    mode: options.mode ?? 'default',
    bind: tools.bind,
    withheld: tools.ownFiles.map(({ path }) => parseAbsolutePath(path)),
    newId: randomUUID,
  }
  const sessions = createSessions(options.budget, resumed, Date.now)
  const gateCall = (
    name: string,
    input: unknown,
    session: Session,
    given: readonly ApprovalGrant[] = [],
  ): GateCall => ({
    callId: randomUUID(),
    tool: name,
    input,
    session: session.count,
    requestedBy: options.requestedBy ?? 'agent',
    approvals: session.approvals(given),
    ...waysToAllow(tools.byName.get(name), options),
  })
  const running = new Set<Promise<ToolResult>>()
  let calls = 0
  let closed = false
  const context = await begin(services, telemetry, resumed?.session_id)

  return {
    call: async (name, input = {}, given = {}) => {
      checkCallOptions(given, registeredCalls !== undefined)
      const {
        signal,
        session = MAIN_SESSION,
        onProgress = () => undefined,
        onOutput,
        onInvocation = () => undefined,
        approvals,
        invocation: resume,
        registry: askedWith,
      } = given
      if (closed) throw fail('runtime-closed', {})
      calls += 1
      const own = sessions.of(session)
      const result = callTool(services, gateCall(name, input, own, approvals), {
        signal,
        onProgress,
        onOutput,
        onInvocation,
        onApproved: own.keep,
        resume,
        askedWith,
      })
      running.add(result)
      try {
        return await result
      } finally {
        running.delete(result)
      }
    },
    evaluate: (name, input = {}, { session = MAIN_SESSION } = {}) =>
      gate.decide({ ...gateCall(name, input, sessions.trial(session)), isTrial: true }),
    listTools: () =>
      Array.from(tools.byName.values(), ({ definition, gate: { boundary } }) => ({
        name: definition.name,
        description: definition.description,
        kind: definition.kind,
        risk: boundary.risk.level,
        input: definition.schema,
      })),
    on: (type, listener) => {
      checkEventType(type)
      return events.on(type, listener)
    },
    warnings: warningsOfRules(rules.ofFiles, names),
    state: gate.state,
    exportState: () =>
      sealState(
        { version: 1, session_id: sessionId, exported_at: new Date().toISOString(), ...sessions.state() },
        options.state,
      ),
    endSession: sessions.end,
    runHooks: gate.runHooks,
    context,
    close: async () => {
      if (closed) return
      closed = true
      registry?.leave()
      await cells.closeSandbox()
      await Promise.allSettled(running)
      cells.closeNetworks()
      await registry?.close()
      try {
        // These hooks may look, and are recorded. They do not hold up the end.
        await gate.runHooks('stop', {})
        await events.emit({ type: 'session.ended', call_id: null, reason: 'closed', calls })
      } finally {
        telemetry?.stop()
        await audit?.close()
      }
    },
  }
}

/**
 * Records that the session began, and asks the hooks that want to know. One that objects, or fails, lets no session
 * begin.
 */
const begin = async (
  { gate, events }: CallingServices,
  telemetry: Telemetry | undefined,
  resumedFrom: string | undefined,
): Promise<readonly string[]> => {
  try {
    await events.emit({
      type: 'session.started',
      call_id: null,
      permission_state: gate.state(),
      ...(resumedFrom === undefined ? {} : { resumed_from: resumedFrom }),
    })
    const verdict = await gate.runHooks('session_start', {})
    if (verdict.kind === 'passed') return verdict.context
    await events.emit({ type: 'session.ended', call_id: null, reason: verdict.denial.message, calls: 0 })
    throw verdict.denial
  } catch (error) {
    telemetry?.stop()
    throw error
  }
}

const approvalOf = (
  { approve, approval }: CordonOptions,
  registeredCalls: RegisteredCalls | undefined,
): ApprovalSettings | undefined => {
  const asking = registeredCalls === undefined ? approve : registeredCalls.approve(approve)
  const { timeout = APPROVAL_DEFAULTS.timeout, otherwise = APPROVAL_DEFAULTS.otherwise } = approval ?? {}
  return asking === undefined ? undefined : { approve: asking, timeout, otherwise }
}
