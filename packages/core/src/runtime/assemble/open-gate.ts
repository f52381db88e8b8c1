import { randomUUID } from 'node:crypto'

import { createGate } from '../../gate/index.js'
import type { Gate, Hook, Mode, RuleSet, UsedApprovals } from '../../gate/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { CallTurns } from '../call/call-turns.js'
import type { CordonOptions, HostHook } from '../cordon-options.js'
import type { EventStream } from '../events/event-stream.js'
import type { RegisteredCalls } from '../registry/registered-calls.js'
import { recordHook } from '../events/call-record.js'
import { listOnHost, resolveOnHost } from '../settings/host-paths.js'
import type { BoundTool } from '../tools/bound-tool.js'

interface GateParts {
  readonly tools: readonly BoundTool[]
  readonly ruleSets: readonly RuleSet[]
  readonly mode: Mode
  /** Shared by all gates of a runtime: an approval for one call lets only one call run. */
  readonly usedApprovals: UsedApprovals
  readonly events: EventStream
  readonly registeredCalls: RegisteredCalls | undefined
  readonly turns: CallTurns
}

export const openGate = (
  options: CordonOptions,
  { tools, ruleSets, mode, usedApprovals, events, registeredCalls, turns }: GateParts,
): Gate => {
  const { classify } = options
  return createGate({
    tools: tools.map((each) => each.gate),
    ruleSets,
    mode,
    usedApprovals,
    hooks: (options.hooks ?? []).map((hook) => asHook(hook, turns)),
    // Asked last: runners may start a call as soon as it is in the registry.
    lastHooks: registeredCalls === undefined ? [] : [registeredCalls.hook],
    onHook: (report) => recordHook(events, report),
    sessionId: events.sessionId,
    isInteractive: options.approve !== undefined || registeredCalls !== undefined,
    policySources: [],
    resolvePath: resolveOnHost,
    listFolder: listOnHost,
    now: Date.now,
    newId: randomUUID,
    wait,
    ...(classify === undefined ? {} : { classify: (request) => turns.inside(() => classify(request)) }),
  })
}

/** Copied field by field: a hook may be an object of a class, with inherited fields. */
const asHook = (hook: HostHook, { inside }: CallTurns): Hook => ({
  name: hook.name,
  points: hook.points,
  source: hook.source ?? 'session',
  ...withoutUndefined({ timeout: hook.timeout }),
  run: (event, given) => inside(() => hook.run(event, given)),
})

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
