// The gate for one typed command: rules of all sources, the mode, and approvals of the session.
import { randomUUID } from 'node:crypto'

import { createSessionCount, resolveByText } from '../gate/index.js'
import type { Gate, GateCall, GateTool, Mode, RuleSet } from '../gate/index.js'
import type { ManifestVerdict } from '../manifest/index.js'
import { openGate } from '../runtime/assemble/index.js'
import type { OwnFile } from '../runtime/own-files/index.js'

import type { Environment } from '../line/arguments.js'
import type { RunOrder } from './request/run-request.js'
import { alwaysRule, renderRule } from './always-rule.js'
import { RUN_TOOL, describeTyped, inputOf } from './run-tool.js'
import { SESSION_LIFETIME } from './session-approvals.js'
import type { SessionApprovals } from './session-approvals.js'

/** Everything about a run that is known before its decision. */
export interface PreparedRun {
  readonly order: RunOrder
  readonly tool: GateTool
  /** Withheld from the command, whatever is granted. */
  readonly ownFiles: readonly OwnFile[]
  readonly ruleSets: readonly RuleSet[]
  readonly mode: Mode
  readonly isInteractive: boolean
  readonly session: SessionApprovals | undefined
  /** The rule file of the user, for "always" rules. */
  readonly ruleFile: string
  readonly environment: Environment
  /** `--manifest`. Undefined: it is held against none. */
  readonly manifest: ManifestVerdict | undefined
}

export interface RunGate {
  readonly gate: Gate
  readonly sessionId: string
  readonly call: GateCall
}

export const openRunGate = (prepared: PreparedRun): RunGate => {
  const { order, session, environment } = prepared
  const sessionId = randomUUID()
  const input = inputOf(order, order.argv, environment['PATH'] ?? '')
  const gate = gateWith(prepared, prepared.ruleSets, sessionId)
  const call: GateCall = {
    callId: randomUUID(),
    tool: RUN_TOOL,
    input,
    count: createSessionCount({}),
    requestedBy: RUN_TOOL,
    origin: 'command',
    typed: describeTyped(order),
    waysToAllow: () => [ruleAdvice(input, prepared), 'run it at a terminal, and answer there', 'choose another mode'],
    approvals: (session?.kept ?? []).map(({ grant }) => grant),
  }
  return { gate, sessionId, call }
}

/** The words of a command may be megabytes. */
const LONGEST_ADVICE = 4_000

const ruleAdvice = (input: ReturnType<typeof inputOf>, { ruleFile }: PreparedRun): string => {
  const rule = renderRule(alwaysRule(input, 'say why'))
  return rule.length > LONGEST_ADVICE
    ? `add a rule to ${ruleFile} that allows the tool ${RUN_TOOL} for such a command`
    : `add to the rules in ${ruleFile}: ${rule}`
}

export const gateWith = (
  { tool, mode, isInteractive, order, session }: PreparedRun,
  ruleSets: readonly RuleSet[],
  sessionId: string,
): Gate =>
  openGate({
    tools: [tool],
    ruleSets,
    mode,
    sessionId,
    isInteractive,
    policySources: order.policySources,
    // The cell decides about the files that the words name, and nothing of them is looked up before.
    resolvePath: resolveByText,
    ...(session === undefined ? {} : { lifetimes: { approval: SESSION_LIFETIME } }),
  })
