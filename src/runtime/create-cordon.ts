import { randomUUID } from 'node:crypto'
import { homedir } from 'node:os'
import { join } from 'node:path'

import { fail } from '../errors/index.js'
import { createGate } from '../gate/index.js'
import type { ApprovalGrant, Evaluation, GateCall, Hook, HookSubject, HookVerdict, PermissionState } from '../gate/index.js'
import type { Risk } from '../policy/index.js'
import { parseAbsolutePath } from '../policy/index.js'
import { openSandbox } from '../sandbox/index.js'
import type { Sandbox } from '../sandbox/index.js'

import { APPROVAL_DEFAULTS } from './approvals.js'
import type { ApprovalSettings } from './approvals.js'
import type { AuditLog } from './audit/audit-log.js'
import { openAuditLog } from './audit/audit-log.js'
import { auditOwnFiles } from './audit/audit-own-files.js'
import type { CallServices } from './call/call-services.js'
import { checkCallOptions, checkCordonOptions, checkEventType } from './settings/check-options.js'
import type { EventType } from './events/event.js'
import { createEventStream } from './events/event-stream.js'
import type { Listener } from './events/event-stream.js'
import { connectTelemetry } from './events/telemetry.js'
import type { Telemetry } from './events/telemetry.js'
import type { CallOptions, CordonOptions, HostHook } from './cordon-options.js'
import { createExecutor } from './call/execute.js'
import { createFunctionCells } from './run/function-cells.js'
import { requirePortable } from './tools/function-source.js'
import { recordHook } from './result/hook-events.js'
import { requireKnownPrerequisites, requireKnownTools, warningsOfRules } from './tools/known-names.js'
import { createRegisteredCalls, mechanismsIfAny, openCallRegistry, registryOwnFiles } from './registry/index.js'
import type { CallRegistry, RegistrySettings, RegisteredCalls } from './registry/index.js'
import { liveCall } from './call/life-of-a-call.js'
import { createCallNetworks, openNetwork, pinsOf, refusePassing, refuseSlips, secretHostOf, sourcesOf, withoutSecrets } from './network/index.js'
import { configFiles, credentialFiles, namedFiles, shieldOwnFiles, stateFiles } from './own-files/index.js'
import type { OwnFile } from './own-files/index.js'
import { createProcessCells } from './run/process-cells.js'
import { bindTool } from './tools/bound-tool.js'
import type { BoundTool } from './tools/bound-tool.js'
import { listOnHost, resolveOnHost } from './settings/host-paths.js'
import { ruleSetsOf } from './settings/rule-sets.js'
import { openState, sealState } from './settings/session-state.js'
import type { SessionState } from './settings/session-state.js'
import { createSessions } from './settings/sessions.js'
import type { Session } from './settings/sessions.js'
import { sameTool } from './tool-identity/same-tool.js'
import type { ToolResult } from './result/tool-result.js'
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
  readonly runHooks: (point: 'user_prompt_submit' | 'post_sampling', subject: Pick<HookSubject, 'input' | 'output' | 'reason'>) => Promise<HookVerdict>
  /** What may be a mistake and is no error: rules of files that name tools which this runtime does not have. */
  readonly warnings: readonly string[]
  /** What hooks want the model to read from the start. */
  readonly context: readonly string[]
  readonly close: () => Promise<void>
}

const MAIN_SESSION = 'main'

export const createCordon = async (options: CordonOptions): Promise<Cordon> => openCordon(options, () => (options.registry === undefined ? undefined : openTeamRegistry(options, options.registry)))

const openTeamRegistry = async ({ tools, sandbox, ...places }: CordonOptions, registry: RegistrySettings): Promise<CallRegistry> =>
  openCallRegistry(registry, sameTool(tools, places), registry.execution === 'runners' ? [] : await mechanismsIfAny(sandbox))

/** With a registry that is given. */
export const openCordon = async (options: CordonOptions, openRegistryFor: () => CallRegistry | undefined | Promise<CallRegistry>): Promise<Cordon> => {
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

const assemble = async (options: CordonOptions, resumed: SessionState | undefined, audit: AuditLog | undefined, registry: CallRegistry | undefined): Promise<Cordon> => {
  const registeredCalls = registry === undefined ? undefined : createRegisteredCalls(registry)
  const places = { workspace: parseAbsolutePath(options.workspace, 'workspace'), home: parseAbsolutePath(options.home ?? homedir(), 'home') }
  const mode = options.mode ?? 'default'
  const sources = sourcesOf(options.egress?.secrets ?? {})
  const ownFiles = [...(audit === undefined ? [] : auditOwnFiles(audit.places)), ...ownFilesOf(options, sources, places)]
  const bind = (definition: ToolDefinition): BoundTool => {
    const bound = bindTool(definition, places)
    const boundary = shieldOwnFiles(bound.gate.boundary, ownFiles, bound.cwd)
    return { ...bound, ownFiles, gate: { ...bound.gate, boundary } }
  }
  const boundTools = options.tools.map(bind)
  const names = options.tools.map(({ name }) => name)
  const rules = ruleSetsOf(options, places)
  requireKnownPrerequisites(options.tools)
  requireKnownTools(rules.own, names)
  const tools = new Map(boundTools.map((each) => [each.definition.name, each]))
  const sessionId = randomUUID()
  const events = createEventStream({
    sessionId,
    now: Date.now,
    newId: randomUUID,
    ...(audit === undefined ? {} : { record: audit.append }),
    ...(options.context === undefined ? {} : { context: options.context }),
  })
  const gate = createGate({
    // All of them: the gate refuses two by one name.
    tools: boundTools.map((each) => each.gate),
    ruleSets: [...rules.ofFiles, ...rules.own],
    mode,
    hooks: (options.hooks ?? []).map(asHook),
    // Where runners take calls from the registry, one may begin as soon as it is there.
    lastHooks: registeredCalls === undefined ? [] : [registeredCalls.hook],
    onHook: (report) => recordHook(events, report),
    sessionId,
    isInteractive: options.approve !== undefined || registeredCalls !== undefined,
    policySources: [],
    resolvePath: resolveOnHost,
    listFolder: listOnHost,
    now: Date.now,
    newId: randomUUID,
    wait,
    ...(options.classify === undefined ? {} : { classify: options.classify }),
  })

  const telemetry = options.telemetry === 'off' ? undefined : await connectTelemetry(events)

  let opening: Promise<Sandbox> | undefined
  let isNested = false
  const sandbox = () => (opening ??= openSandbox(options.sandbox).then((opened) => {
    isNested = opened.host.nesting.held
    return opened
  }))
  refuseSlips(options.egress ?? {}, boundTools.map(({ gate: { boundary } }) => boundary))
  const given = options.environment ?? {}
  // What a value is read from is nothing that a policy could pass on.
  const environment = definedOf(withoutSecrets(given, sources.values()))
  for (const { gate: { name, boundary } } of boundTools) refusePassing(name, boundary, sources, given)
  const networks = createCallNetworks(() => openNetwork({ authorities: options.egress?.authorities ?? [], isNested: () => isNested, secrets: { sources, host: secretHostOf(given, options.egress?.vault, options.egress?.stored) } }), pinsOf(options.egress?.pins ?? {}))
  const services: CallServices = {
    gate,
    events,
    tools,
    bind,
    withheld: ownFiles.map(({ path }) => parseAbsolutePath(path)),
    executor: createExecutor({ processes: createProcessCells(sandbox, environment, networks), functions: createFunctionCells(sandbox, environment, networks) }, Date.now),
    approval: approvalOf(options, registeredCalls),
    registeredCalls,
    record: options.record ?? {},
    mode,
    sessionId,
    newId: randomUUID,
    begin: telemetry?.begin ?? (() => undefined),
  }
  const sessions = createSessions(options.budget, resumed, Date.now)
  const running = new Set<Promise<ToolResult>>()
  let calls = 0
  let closed = false

  const gateCall = (name: string, input: unknown, session: Session, given: readonly ApprovalGrant[] = []): GateCall => ({
    callId: randomUUID(),
    tool: name,
    input,
    session: session.count,
    requestedBy: options.requestedBy ?? 'agent',
    approvals: session.approvals(given),
    ...waysOut(tools.get(name), options),
  })
  const context = await begin(services, telemetry, resumed?.session_id)

  return {
    call: async (name, input = {}, given = {}) => {
      checkCallOptions(given, services.registeredCalls !== undefined)
      const { signal, session = MAIN_SESSION, onProgress = () => undefined, onOutput, onInvocation = () => undefined, approvals, invocation, registry: askedWith } = given
      if (closed) throw fail('runtime-closed', {})
      calls += 1
      const own = sessions.of(session)
      const call = gateCall(name, input, own, approvals)
      const result = liveCall(services, call, { signal, onProgress, onOutput, onInvocation, onGrant: own.keep, resume: invocation, askedWith })
      running.add(result)
      try {
        return await result
      } finally {
        running.delete(result)
      }
    },
    evaluate: (name, input = {}, { session = MAIN_SESSION } = {}) => gate.decide({ ...gateCall(name, input, sessions.trial(session)), isTrial: true }),
    listTools: () => [...tools.values()].map(({ definition, gate: { boundary } }) => ({ name: definition.name, description: definition.description, kind: definition.kind, risk: boundary.risk.level, input: definition.schema })),
    on: (type, listener) => {
      checkEventType(type)
      return events.on(type, listener)
    },
    warnings: warningsOfRules(rules.ofFiles, names),
    state: gate.state,
    exportState: () => sealState({ version: 1, session_id: sessionId, exported_at: new Date().toISOString(), ...sessions.state() }, options.state),
    endSession: sessions.end,
    runHooks: gate.runHooks,
    context,
    close: async () => {
      if (closed) return
      closed = true
      registry?.leave()
      await (await opening?.catch(() => undefined))?.close()
      await Promise.allSettled(running)
      networks.close()
      await registry?.close()
      try {
        // They may look, and are recorded; what ends is not held up by them.
        await gate.runHooks('stop', {})
        await events.emit({ type: 'session.ended', call_id: null, reason: 'closed', calls })
      } finally {
        telemetry?.stop()
        await audit?.close()
      }
    },
  }
}

/** What this runtime reads and keeps. Values of variables are kept from tools apart. */
const ownFilesOf = ({ tools, registry, configFolder, environment, ownFiles: { withheld = [], readOnly = [] } = {} }: CordonOptions, sources: ReturnType<typeof sourcesOf>, { home }: { readonly home: string }): readonly OwnFile[] => [
  ...registryOwnFiles(registry),
  ...credentialFiles(sources, { folder: process.cwd(), home, searchPath: environment?.['PATH'] }),
  ...configFiles(configFolder ?? join(home, '.config', 'cordon')),
  ...stateFiles(join(home, '.local', 'state', 'cordon')),
  ...namedFiles(tools.flatMap(({ policyFile }) => policyFile ?? []), 'the policy of a tool'),
  ...withheld.map((path): OwnFile => ({ path, access: 'withheld', what: 'named in ownFiles', fix: 'grant something else' })),
  ...readOnly.map((path): OwnFile => ({ path, access: 'read-only', what: 'named in ownFiles', fix: 'grant something else' })),
]

/** Records that the session began, and asks the hooks that want to know. One that objects, or fails, lets no session begin. */
const begin = async ({ gate, events }: CallServices, telemetry: Telemetry | undefined, resumedFrom: string | undefined): Promise<readonly string[]> => {
  try {
    await events.emit({ type: 'session.started', call_id: null, permission_state: gate.state(), ...(resumedFrom === undefined ? {} : { resumed_from: resumedFrom }) })
    const verdict = await gate.runHooks('session_start', {})
    if (verdict.kind === 'passed') return verdict.context
    await events.emit({ type: 'session.ended', call_id: null, reason: verdict.denial.message, calls: 0 })
    throw verdict.denial
  } catch (error) {
    telemetry?.stop()
    throw error
  }
}

/** What it inherits counts too: a hook may be an object of a class. */
const asHook = (hook: HostHook): Hook => ({
  name: hook.name,
  points: hook.points,
  source: hook.source ?? 'session',
  ...(hook.timeout === undefined ? {} : { timeout: hook.timeout }),
  run: (event, given) => hook.run(event, given),
})

const definedOf = (environment: NonNullable<CordonOptions['environment']>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined))

/** What a call that would have to be approved lacks, in words that can be copied. */
const waysOut = (tool: BoundTool | undefined, { approve }: CordonOptions): Pick<GateCall, 'waysToAllow' | 'waysToApprove'> => {
  if (tool === undefined) return {}
  const { name, kind } = tool.definition
  const asking = approve === undefined ? ['let somebody answer: createCordon({ approve: async ({ tool, input, reason }) => ({ kind: "approve_once", by: "ann" }), … })'] : []
  return {
    waysToAllow: [
      `add a rule that allows it, best with a condition: createCordon({ rules: [{ rules: [{ effect: "allow", tool: ${JSON.stringify(name)}, because: "…" }] }], … })`,
      ...asking,
      ...(kind === 'in-process' ? [] : ['let its sandbox be enough: createCordon({ mode: "on_request", … })']),
    ],
    ...(asking.length === 0 ? {} : { waysToApprove: asking }),
  }
}

const approvalOf = ({ approve, approval }: CordonOptions, registeredCalls: RegisteredCalls | undefined): ApprovalSettings | undefined => {
  const asking = registeredCalls === undefined ? approve : registeredCalls.approve(approve)
  return asking === undefined ? undefined : { ...APPROVAL_DEFAULTS, ...approval, approve: asking }
}

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
