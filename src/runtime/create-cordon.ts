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
import { checkCallOptions, checkCordonOptions, checkEventType } from './settings/check-options.js'
import type { EventType } from './events/event.js'
import { createEventStream } from './events/event-stream.js'
import type { Listener } from './events/event-stream.js'
import { connectTelemetry } from './events/telemetry.js'
import type { Telemetry } from './events/telemetry.js'
import type { CallOptions, CordonOptions, HostHook } from './cordon-options.js'
import { createFunctionCells } from './run/function-cells.js'
import { requirePortable } from './tools/function-source.js'
import { recordHook } from './result/hook-events.js'
import { requireKnownPrerequisites, requireKnownTools, warningsOfRules } from './tools/known-names.js'
import { mechanismsIfAny, openLedger, registeredCalls, storeOwnFiles } from './registry/index.js'
import type { CallLedger, LedgerSettings, RegisteredCalls } from './registry/index.js'
import { callTool } from './call/second-attempt.js'
import type { CallingServices } from './call/second-attempt.js'
import { createCallNetworks, openNetwork, pinsOf, refusePassing, refuseSlips, secretHostOf, sourcesOf, withoutSecrets } from './network/index.js'
import { configFiles, credentialFiles, namedFiles, shieldOwnFiles, stateFiles } from './own-files/index.js'
import type { OwnFile } from './own-files/index.js'
import { createProcessCells } from './run/process-cells.js'
import { createToolRunner } from './run/tool-runner.js'
import { registerTool } from './tools/registered-tool.js'
import type { RegisteredTool } from './tools/registered-tool.js'
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

export const createCordon = async (options: CordonOptions): Promise<Cordon> => openCordon(options, () => (options.registry === undefined ? undefined : openBooks(options, options.registry)))

const openBooks = async ({ tools, sandbox, ...places }: CordonOptions, registry: LedgerSettings): Promise<CallLedger> =>
  openLedger(registry, sameTool(tools, places), registry.execution === 'runners' ? [] : await mechanismsIfAny(sandbox))

/** With books that are given. */
export const openCordon = async (options: CordonOptions, openLedgerOf: () => CallLedger | undefined | Promise<CallLedger>): Promise<Cordon> => {
  checkCordonOptions(options)
  for (const each of options.tools) requirePortable(each)
  const resumed = options.state === undefined ? undefined : openState(options.state)
  const audit = options.audit === undefined ? undefined : await openAuditLog(options.audit)
  let ledger: CallLedger | undefined
  try {
    ledger = await openLedgerOf()
    return await assemble(options, resumed, audit, ledger)
  } catch (error) {
    await ledger?.close()
    await audit?.close()
    throw error
  }
}

const assemble = async (options: CordonOptions, resumed: SessionState | undefined, audit: AuditLog | undefined, ledger: CallLedger | undefined): Promise<Cordon> => {
  const books = ledger === undefined ? undefined : registeredCalls(ledger)
  const places = { workspace: parseAbsolutePath(options.workspace, 'workspace'), home: parseAbsolutePath(options.home ?? homedir(), 'home') }
  const mode = options.mode ?? 'default'
  const sources = sourcesOf(options.egress?.secrets ?? {})
  const ownFiles = [...(audit === undefined ? [] : auditOwnFiles(audit.places)), ...ownFilesOf(options, sources, places)]
  const register = (definition: ToolDefinition): RegisteredTool => {
    const registered = registerTool(definition, places)
    const boundary = shieldOwnFiles(registered.gate.boundary, ownFiles, registered.cwd)
    return { ...registered, ownFiles, gate: { ...registered.gate, boundary } }
  }
  const registered = options.tools.map(register)
  const names = options.tools.map(({ name }) => name)
  const rules = ruleSetsOf(options, places)
  requireKnownPrerequisites(options.tools)
  requireKnownTools(rules.own, names)
  const tools = new Map(registered.map((each) => [each.definition.name, each]))
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
    tools: registered.map((each) => each.gate),
    ruleSets: [...rules.ofFiles, ...rules.own],
    mode,
    hooks: (options.hooks ?? []).map(asHook),
    // Where runners take calls from the registry, one may begin as soon as it is there.
    lastHooks: books === undefined ? [] : [books.hook],
    onHook: (report) => recordHook(events, report),
    sessionId,
    isInteractive: options.approve !== undefined || books !== undefined,
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
  refuseSlips(options.egress ?? {}, registered.map(({ gate: { boundary } }) => boundary))
  const given = options.environment ?? {}
  // What a value is read from is nothing that a policy could pass on.
  const environment = definedOf(withoutSecrets(given, sources.values()))
  for (const { gate: { name, boundary } } of registered) refusePassing(name, boundary, sources, given)
  const networks = createCallNetworks(() => openNetwork({ authorities: options.egress?.authorities ?? [], isNested: () => isNested, secrets: { sources, host: secretHostOf(given, options.egress?.vault, options.egress?.stored) } }), pinsOf(options.egress?.pins ?? {}))
  const services: CallingServices = {
    gate,
    events,
    tools,
    register,
    withheld: ownFiles.map(({ path }) => parseAbsolutePath(path)),
    runner: createToolRunner({ processes: createProcessCells(sandbox, environment, networks), functions: createFunctionCells(sandbox, environment, networks) }),
    now: Date.now,
    approval: approvalOf(options, books),
    registered: books,
    record: options.record ?? {},
    mode,
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
    invocation: session.invocation,
    requestedBy: options.requestedBy ?? 'agent',
    approvals: session.approvals(given),
    ...waysOut(tools.get(name), options),
  })
  const context = await begin(services, telemetry, resumed?.session_id)

  return {
    call: async (name, input = {}, given = {}) => {
      checkCallOptions(given, services.registered !== undefined)
      const { signal, session = MAIN_SESSION, onProgress = () => undefined, onOutput, onInvocation = () => undefined, approvals, invocation, registry: askedWith } = given
      if (closed) throw fail('runtime-closed', {})
      calls += 1
      const own = sessions.of(session)
      const call = gateCall(name, input, own, approvals)
      const result = callTool(services, call, { signal, onProgress, onOutput, onInvocation, onApproved: own.keep, resume: invocation, askedWith })
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
      ledger?.leave()
      await (await opening?.catch(() => undefined))?.close()
      await Promise.allSettled(running)
      networks.close()
      await ledger?.close()
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
  ...storeOwnFiles(registry),
  ...credentialFiles(sources, { folder: process.cwd(), home, searchPath: environment?.['PATH'] }),
  ...configFiles(configFolder ?? join(home, '.config', 'cordon')),
  ...stateFiles(join(home, '.local', 'state', 'cordon')),
  ...namedFiles(tools.flatMap(({ policyFile }) => policyFile ?? []), 'the policy of a tool'),
  ...withheld.map((path): OwnFile => ({ path, access: 'withheld', what: 'named in ownFiles', fix: 'grant something else' })),
  ...readOnly.map((path): OwnFile => ({ path, access: 'read-only', what: 'named in ownFiles', fix: 'grant something else' })),
]

/** Records that the session began, and asks the hooks that want to know. One that objects, or fails, lets no session begin. */
const begin = async ({ gate, events }: CallingServices, telemetry: Telemetry | undefined, resumedFrom: string | undefined): Promise<readonly string[]> => {
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
const waysOut = (tool: RegisteredTool | undefined, { approve }: CordonOptions): Pick<GateCall, 'waysToAllow' | 'waysToApprove'> => {
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

const approvalOf = ({ approve, approval }: CordonOptions, books: RegisteredCalls | undefined): ApprovalSettings | undefined => {
  const asking = books === undefined ? approve : books.approve(approve)
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
