// Puts together the parts of a runtime for an agent's tools. Each call then goes through call/life-of-a-call.ts.
import { bug, fail } from '../errors/index.js'
import { createUsedApprovals } from '../gate/index.js'
import { parseAbsolutePath } from '../policy/index.js'
import { withoutUndefined } from '../shapes/index.js'

import { APPROVAL_DEFAULTS } from './approvals.js'
import type { ApprovalSettings } from './approvals.js'
import { bindTools } from './assemble/bind-tools.js'
import { createCalls } from './assemble/calls.js'
import { createLivingGate, createSessionChanges } from './assemble/session-changes.js'
import { openRecord } from './assemble/open-gate.js'
import { prepareCells } from './assemble/prepare-cells.js'
import { openRuntimeGate } from './assemble/runtime-gate.js'
import type { LivingState } from './assemble/session-changes.js'
import { openAuditLog } from './audit/audit-log.js'
import type { AuditLog } from './audit/audit-log.js'
import type { CallServices } from './call/call-services.js'
import { createCallTurns, defaultConcurrency } from './call/call-turns.js'
import type { Cordon } from './cordon.js'
import type { CordonOptions } from './cordon-options.js'
import { describeCordon } from './describe/described-cordon.js'
import { currentDescription } from './describing.js'
import { connectTelemetry } from './events/telemetry.js'
import type { Telemetry } from './events/telemetry.js'
import type { CallRegistry } from './registry/call-registry.js'
import { mechanismsIfAny } from './registry/host-mechanisms.js'
import { createRegisteredCalls } from './registry/registered-calls.js'
import type { RegisteredCalls } from './registry/registered-calls.js'
import { listTools } from './model/list-tools.js'
import { checkCordonOptions, checkEventType } from './settings/check-options.js'
import { contextOf, readManifestOption } from './held/hold-tools.js'
import { ruleSetsOf } from './settings/rule-sets.js'
import { openState, sealState } from './settings/session-state.js'
import type { SessionState } from './settings/session-state.js'
import { createSessions } from './settings/sessions.js'
import { openSuspension } from './suspend/suspended-call.js'
import { boundCode } from './tool-identity/bound-code.js'
import { requirePortable } from './tools/function-source.js'
import { hintFor, requireKnownPrerequisites, requireKnownTools, warningsOfRules } from './tools/known-names.js'
import { warningsOfVariables } from './tools/known-names.js'
import type { BoundTool } from './tools/bound-tool.js'
import type { ToolDefinition } from './tools/tools.js'

export const createCordon = async <const Tools extends readonly ToolDefinition[]>(
  options: CordonOptions<Tools>,
): Promise<Cordon<Tools>> => {
  const description = currentDescription()
  if (description !== undefined) return describeCordon(options, description)
  return openCordon(options, (definitionOf) => openRegistryOf(options, definitionOf))
}

/** After the options were checked. */
const openRegistryOf = ({ registry, sandbox, workspace, home }: CordonOptions, definitionOf: DefinitionOf) =>
  registry?.open({
    definitionOf,
    ...withoutUndefined({ workspace, home }),
    mechanisms: () => mechanismsIfAny(sandbox),
  })

/** The tools of the runtime as they are now. */
type DefinitionOf = (name: string) => ToolDefinition | undefined

/** With a given registry. */
export const openCordon = async (
  options: CordonOptions,
  openRegistryFor: (definitionOf: DefinitionOf) => CallRegistry | undefined | Promise<CallRegistry>,
): Promise<Cordon> => {
  checkCordonOptions(options)
  for (const each of options.tools) requirePortable(each)
  const definitions = new Map(options.tools.map((each) => [each.name, each]))
  const resumed = options.state === undefined ? undefined : openState(options.state)
  const audit = await auditOf(options.audit)
  let registry: CallRegistry | undefined
  try {
    registry = await openRegistryFor((name) => definitions.get(name))
    return await assemble(options, resumed, audit, registry, definitions)
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
  definitions: Map<string, ToolDefinition>,
): Promise<Cordon> => {
  const registeredCalls = registry === undefined ? undefined : createRegisteredCalls(registry)
  const manifest = readManifestOption(options.manifest)
  const firstTools = bindTools(options, audit, manifest)
  const { places, sources } = firstTools
  const names = options.tools.map(({ name }) => name)
  const rules = ruleSetsOf(options, places)
  requireKnownPrerequisites(options.tools)
  requireKnownTools(rules.own, names)
  const events = openRecord(withoutUndefined({ record: audit?.append, context: contextOf(options.context, manifest) }))
  if (options.onEvent !== undefined) events.on('*', options.onEvent)
  const usedApprovals = createUsedApprovals(Date.now)
  const turns = createCallTurns(options.concurrency ?? defaultConcurrency())
  const gateOf = ({ mode, tools, rules: own }: LivingState) =>
    openRuntimeGate(options, {
      tools: tools.list,
      ruleSets: [...rules.ofFiles, ...own.values()],
      mode,
      usedApprovals,
      events,
      registeredCalls,
      turns,
    })
  let living: LivingState = {
    mode: options.mode ?? 'default',
    tools: firstTools,
    rules: new Map(rules.own.map((set) => [set.name, set])),
  }
  const gate = createLivingGate(gateOf(living))
  const telemetry = options.telemetry === 'off' ? undefined : await connectTelemetry(events)
  const cells = prepareCells(options, sources)
  cells.check(firstTools.list)
  const byName = new Map(firstTools.byName)
  const suspension = openSuspension(options, Date.now, (name, inputs) =>
    boundCode(byName.get(name) ?? bug('a question about an unknown tool'), inputs),
  )
  const services: CallServices = {
    gate,
    events,
    isCurrent: gate.isCurrent,
    stopped: new WeakMap(),
    tools: byName,
    manifestOf: (name) => byName.get(name)?.manifest,
    runner: cells.runner,
    approval: approvalOf(options, registeredCalls),
    registeredCalls,
    suspension,
    record: options.record ?? {},
    now: Date.now,
    begin: telemetry?.begin ?? (() => undefined),
  }
  // People of a team approve the registered policy. A wider one would not be what they saw.
  const widener = () =>
    living.mode === 'on_failure' && registry === undefined
      ? { bind: living.tools.bind, withheld: living.tools.ownFiles.map(({ path }) => parseAbsolutePath(path)) }
      : undefined
  const sessions = createSessions(options.budget, resumed, Date.now)
  let listed = listTools(firstTools.list)
  const {
    count,
    requireOpen,
    close: refuseCalls,
    ended,
    ...methods
  } = createCalls({
    options,
    services,
    sessions,
    widener,
    turns,
    unconfined: { runner: cells.unconfined, twinOf: (tool) => living.tools.unconfined(tool) },
    nameOf: (modelName) => listed.find((each) => each.modelName === modelName)?.name ?? modelName,
  })
  const context = await begin(services, telemetry, resumed?.session_id)

  const changes = createSessionChanges({
    first: living,
    gate,
    events,
    openGate: (next) => {
      cells.check(next.tools.list)
      return gateOf(next)
    },
    onChange: (next) => {
      const old = living.tools
      living = next
      replaceEntries(byName, next.tools.byName)
      replaceEntries(definitions, new Map(next.tools.list.map(({ definition }) => [definition.name, definition])))
      listed = listTools(next.tools.list)
      const replaced = old.list.filter((each) => !next.tools.list.includes(each))
      cells.forget(replaced)
      for (const { gate: gone } of replaced) sessions.forgetTool(gone.name)
    },
  })
  const close = async (): Promise<void> => {
    if (!refuseCalls()) return
    registry?.leave()
    await cells.closeSandbox()
    await ended()
    cells.closeNetworks()
    await registry?.close()
    try {
      // The answers of these hooks do not hold up the end.
      await gate.runHooks('stop', {})
      await events.emit({ type: 'session.ended', call_id: null, reason: 'closed', calls: count() })
    } finally {
      telemetry?.stop()
      await audit?.close()
    }
  }

  return {
    ...changes,
    ...methods,
    prewarm: async (name, input) => {
      requireOpen()
      await cells.prewarm(name === undefined ? undefined : requireTool(byName, name), input)
    },
    listTools: () => listed,
    on: (type, listener) => {
      checkEventType(type)
      return events.on(type, listener)
    },
    get warnings() {
      return [...warningsOfRules(rules.ofFiles, [...byName.keys()]), ...warningsOfVariables(living.tools.list, options)]
    },
    state: gate.state,
    exportState: () =>
      sealState(
        { version: 1, session_id: events.sessionId, exported_at: new Date().toISOString(), ...sessions.state() },
        options.state,
      ),
    endSession: sessions.end,
    runHooks: gate.runHooks,
    context,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** A log that was open before stays open. */
const auditOf = async (given: CordonOptions['audit']): Promise<AuditLog | undefined> => {
  if (given === undefined) return undefined
  return 'append' in given ? { ...given, close: () => Promise.resolve() } : openAuditLog(given)
}

const requireTool = (tools: ReadonlyMap<string, BoundTool>, name: string): BoundTool => {
  const found = tools.get(name)
  if (found !== undefined) return found
  throw fail('tool-unknown-here', { where: 'prewarm', tool: name, fix: hintFor(name, [...tools.keys()]) })
}

const replaceEntries = <Value>(map: Map<string, Value>, next: ReadonlyMap<string, Value>): void => {
  map.clear()
  for (const [key, value] of next) map.set(key, value)
}

/** Records that the session began, and runs its hooks. If one denies or fails, the session does not begin. */
const begin = async (
  { gate, events }: CallServices,
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
