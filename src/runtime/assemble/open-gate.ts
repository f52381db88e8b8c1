import { randomUUID } from 'node:crypto'

import { createGate } from '../../gate/index.js'
import type { Gate, GateCall, Hook, Mode, RuleSet, UsedApprovals } from '../../gate/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import type { CallTurns } from '../call/call-turns.js'
import type { CordonOptions, HostHook } from '../cordon-options.js'
import type { EventStream } from '../events/event-stream.js'
import type { RegisteredCalls } from '../registry/index.js'
import { recordHook } from '../result/hook-events.js'
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

const READS_ONLY =
  'if it only reads, say so in its policy: egress_class: "read_only", which lets only GET, HEAD and OPTIONS pass'

/** A call of an MCP server's tool comes through `cordon mcp`. */
const waysOfGateway = (
  policyFix: string | undefined,
  name: string,
  isAsked: boolean,
  readsOnly: readonly string[],
): Pick<GateCall, 'waysToAllow' | 'waysToApprove'> => {
  const asking = isAsked ? [] : ['let the user of the client answer: cordon mcp --ask client']
  return {
    waysToAllow: [
      ...(policyFix === undefined ? [] : [policyFix]),
      `add a rule that allows it, best with a condition: { effect: allow, tool: ${JSON.stringify(name)}, because: … }`,
      ...asking,
    ],
    ...(asking.length === 0 ? {} : { waysToApprove: [...asking, ...readsOnly] }),
  }
}

/** The code that would allow a call, or let somebody approve it, for its error. */
export const waysToAllow = (
  tool: BoundTool | undefined,
  { approve }: CordonOptions,
): Pick<GateCall, 'waysToAllow' | 'waysToApprove'> => {
  if (tool === undefined) return {}
  const { name, kind } = tool.definition
  const readsOnly = tool.gate.boundary.network.kind === 'none' ? [] : [READS_ONLY]
  // Its words are those of the command line, and not of createCordon.
  if (kind === 'mcp') return waysOfGateway(tool.definition.policyFix, name, approve !== undefined, readsOnly)
  const asking =
    approve === undefined
      ? [
          'let somebody answer: createCordon({ approve: async ({ tool, input, reason }) => ({ kind: ' +
            '"approve_once", by: "ann" }), … })',
        ]
      : []
  return {
    waysToAllow: [
      'add a rule that allows it, best with a condition: createCordon({ rules: [{ rules: [{ effect: "allow", ' +
        `tool: ${JSON.stringify(name)}, because: "…" }] }], … })`,
      ...asking,
      ...(kind === 'in-process' ? [] : ['let its sandbox be enough: createCordon({ mode: "on_request", … })']),
    ],
    ...(asking.length === 0 ? {} : { waysToApprove: [...asking, ...readsOnly] }),
  }
}
