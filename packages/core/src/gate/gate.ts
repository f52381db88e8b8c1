import { bug, fail } from '../errors/index.js'
import { didYouMean } from '../policy/index.js'

import { createArgumentGate } from './arguments/argument-gate.js'
import type { Evaluation, GateCall } from './call.js'
import { startDraft } from './draft.js'
import { createEvaluator } from './evaluator.js'
import type { GatedTool } from './evaluator.js'
import { notJson } from './gate-input.js'
import { lifetimeOf } from './gate-settings.js'
import type { GateSettings } from './gate-settings.js'
import type { HookPoint } from './hooks/hook.js'
import { takeSnapshot } from './input/json-value.js'
import type { JsonValue } from './input/json-value.js'
import { describeState } from './record/permission-state.js'
import type { PermissionState } from './record/permission-state.js'
import { indexRules } from './rules/rule-index.js'
import { runHooks } from './hooks/run-hooks.js'
import type { HookRunner, HookVerdict } from './hooks/run-hooks.js'
import { createSettle } from './approval/settle.js'
import type { Settle } from './approval/settle.js'
import type { GateTool } from './tool.js'

/** Decides about calls. Only the gate that asked a question can settle its answer. */
export interface Gate {
  /** `wider`: the tool with the policy that `call.widening` asks for, in place of the registered tool. */
  readonly decide: (call: GateCall, wider?: GateTool) => Promise<Evaluation>
  /** Answers an evaluation that asks. See `ApprovalAnswer`. */
  readonly settle: Settle
  readonly state: () => PermissionState
  /** Runs the hooks of a point outside of decisions: after a call, at the start and end of a session. */
  readonly runHooks: (point: HookPoint, subject: HookSubject) => Promise<HookVerdict>
}

export interface HookSubject {
  readonly callId?: string
  readonly tool?: string
  readonly input?: JsonValue
  readonly output?: JsonValue
  readonly reason?: string
}

const MAX_NAME_SHOWN = 128
const MAX_TOOLS_SHOWN = 20

export const createGate = (settings: GateSettings): Gate => {
  const tools = toolsByName(settings)
  refuseForbiddenMode(settings)
  const onlyManaged = settings.ruleSets.some(({ managedOnly }) => managedOnly.includes('hook_allows'))
  const runner: HookRunner = {
    hooks: settings.hooks,
    onReport: settings.onHook ?? (() => Promise.resolve()),
    now: settings.now,
    wait: settings.wait,
    timeout: lifetimeOf(settings, 'hook'),
    allowsFrom: onlyManaged ? new Set(['managed']) : undefined,
  }
  const evaluator = createEvaluator(settings, indexRules(settings.ruleSets), runner)
  const state = describeState(settings)
  return {
    decide: async (call, wider) => {
      const known = tools.get(call.tool)
      const gated = known === undefined || wider === undefined ? known : widened(call, wider, settings)
      const snapshot = takeSnapshot(call.input)
      const draft = startDraft(call, gated?.tool, snapshot.kind === 'json' ? snapshot.value : null)
      if (gated === undefined) {
        const name = call.tool.slice(0, MAX_NAME_SHOWN)
        const hint = insteadOf(name, [...tools.keys()])
        const instead = `${hint.slice(0, 1).toUpperCase()}${hint.slice(1)}`
        const denial = fail('tool-unknown', { tool: name, hint, instead })
        return evaluator.refuseAt('tool', draft, 'registry', denial)
      }
      if (call.inputProblem !== undefined) {
        const problem = `cannot be read (${call.inputProblem})`
        return evaluator.refuseAt('input', draft, 'schema', notJson(call.tool, { where: 'the text', problem }))
      }
      if (snapshot.kind === 'problem') return evaluator.refuseAt('input', draft, 'schema', notJson(call.tool, snapshot))
      return evaluator.evaluate(call, gated, snapshot.value, snapshot.value)
    },
    settle: createSettle(settings, evaluator),
    state: () => state,
    runHooks: (point, { callId = null, tool = null, input = null, output = null, reason = null }) =>
      runHooks(runner, Object.freeze({ point, sessionId: settings.sessionId, callId, tool, input, output, reason })),
  }
}

/** A wider policy is only for the call that asks for it. */
const widened = (call: GateCall, wider: GateTool, { resolvePath, listFolder }: GateSettings): GatedTool => {
  if (call.widening === undefined || wider.name !== call.tool) return bug('a wider policy without a question')
  return { tool: wider, gate: createArgumentGate(wider, resolvePath, listFolder) }
}

/** The model knows the names of the tools. */
const insteadOf = (name: string, known: readonly string[]): string => {
  const meant = didYouMean(name, known)
  if (meant !== undefined) return meant
  if (known.length === 0) return 'there are no tools'
  return `the tools are: ${known.slice(0, MAX_TOOLS_SHOWN).join(', ')}${known.length > MAX_TOOLS_SHOWN ? ', …' : ''}`
}

const toolsByName = ({ tools, resolvePath, listFolder }: GateSettings): ReadonlyMap<string, GatedTool> => {
  const byName = new Map<string, GatedTool>()
  const taken = new Map<string, string>()
  for (const tool of tools) {
    // Two tools of one name, or of names that look alike, would share their approvals.
    const other = taken.get(tool.name.toLowerCase())
    if (other !== undefined)
      throw fail('tool-name-invalid', {
        tool: JSON.stringify(tool.name),
        problem: `is already taken by ${JSON.stringify(other)}`,
        fix: 'give each tool its own name; names that differ only in case count as one',
      })
    taken.set(tool.name.toLowerCase(), tool.name)
    byName.set(tool.name, { tool, gate: createArgumentGate(tool, resolvePath, listFolder) })
  }
  return byName
}

const refuseForbiddenMode = ({ mode, ruleSets }: GateSettings): void => {
  const forbidding = ruleSets.find(({ permittedModes }) => permittedModes?.includes(mode) === false)
  if (forbidding === undefined) return
  throw fail('mode-not-permitted', {
    mode,
    source: forbidding.name,
    permitted: (forbidding.permittedModes ?? []).join(', '),
  })
}
