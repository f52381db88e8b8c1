import type { Gate, Hook, Mode, RuleSet, UsedApprovals } from '../../gate/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { CallTurns } from '../call/call-turns.js'
import type { CordonOptions, HostHook } from '../cordon-options.js'
import type { EventStream } from '../events/event-stream.js'
import type { RegisteredCalls } from '../registry/registered-calls.js'
import { recordHook } from '../events/call-record.js'
import type { BoundTool } from '../tools/bound-tool.js'
import { openGate } from './open-gate.js'

interface RuntimeParts {
  readonly tools: readonly BoundTool[]
  readonly ruleSets: readonly RuleSet[]
  readonly mode: Mode
  /** Shared by all gates of a runtime: an approval for one call lets only one call run. */
  readonly usedApprovals: UsedApprovals
  readonly events: EventStream
  readonly registeredCalls: RegisteredCalls | undefined
  readonly turns: CallTurns
}

/** The gate of a runtime, with the hooks and the classifier of its host. */
export const openRuntimeGate = (
  { hooks = [], classify, approve }: CordonOptions,
  { tools, ruleSets, mode, usedApprovals, events, registeredCalls, turns }: RuntimeParts,
): Gate =>
  openGate({
    tools: tools.map((each) => each.gate),
    ruleSets,
    mode,
    usedApprovals,
    hooks: hooks.map((hook) => asHook(hook, turns)),
    // Asked last: runners may start a call as soon as it is in the registry.
    lastHooks: registeredCalls === undefined ? [] : [registeredCalls.hook],
    onHook: (report) => recordHook(events, report),
    sessionId: events.sessionId,
    isInteractive: approve !== undefined || registeredCalls !== undefined,
    ...(classify === undefined ? {} : { classify: (request) => turns.inside(() => classify(request)) }),
  })

/** Copied field by field: a hook may be an object of a class, with inherited fields. */
const asHook = (hook: HostHook, { inside }: CallTurns): Hook => ({
  name: hook.name,
  points: hook.points,
  source: hook.source ?? 'session',
  ...withoutUndefined({ timeout: hook.timeout }),
  run: (event, given) => inside(() => hook.run(event, given)),
})
