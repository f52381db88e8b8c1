// From a typed command to a permit or a refusal: rules of all sources, the mode, and, where it comes to
// that, the person at the terminal. Every step is recorded before the next one is taken.
import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'

import { createGate, createSessionCount, resolveByText } from '../../gate/index.js'
import type { Evaluation, Gate, GateCall, GateTool, JsonObject, Mode, RuleSet } from '../../gate/index.js'
import type { EventStream } from '../../runtime/events/index.js'
import { recordArguments } from '../../runtime/events/index.js'
import type { OwnFile } from '../../runtime/own-files/index.js'

import { alwaysRule, renderRule } from './always-rule.js'
import type { CommandLine } from '../command-line.js'
import type { RunAnswer } from './run-prompt.js'
import type { RunOrder } from '../request/run-request.js'
import { RUN_TOOL, argvOf, describeTyped, inputOf } from './run-tool.js'
import { SESSION_LIFETIME } from './session-approvals.js'
import type { SessionApprovals } from './session-approvals.js'

export interface RunServices {
  readonly order: RunOrder
  readonly tool: GateTool
  /** Kept from the command, whatever is granted. */
  readonly ownFiles: readonly OwnFile[]
  readonly ruleSets: readonly RuleSet[]
  readonly mode: Mode
  readonly isInteractive: boolean
  readonly session: SessionApprovals | undefined
  /** The rule file of the user, where an "always" is kept. */
  readonly ruleFile: string
  readonly environment: CommandLine['environment']
}

export interface RunGate {
  readonly gate: Gate
  readonly sessionId: string
  readonly call: GateCall
}

export const openRunGate = (services: RunServices): RunGate => {
  const { order, session, environment } = services
  const sessionId = randomUUID()
  const input = inputOf(order, order.argv, environment['PATH'] ?? '')
  const gate = gateWith(services, services.ruleSets, sessionId)
  const rule = renderRule(alwaysRule(input, 'say why'))
  const call: GateCall = {
    callId: randomUUID(),
    tool: RUN_TOOL,
    input,
    session: createSessionCount({}),
    requestedBy: RUN_TOOL,
    origin: 'command',
    typed: describeTyped(order),
    waysToAllow: [rule.length > LONGEST_ADVICE ? `add a rule to ${services.ruleFile} that allows the tool ${RUN_TOOL} for such a command` : `add to the rules in ${services.ruleFile}: ${rule}`, 'run it at a terminal, and answer there', 'choose another mode'],
    approvals: session?.grants ?? [],
  }
  return { gate, sessionId, call }
}

/** A command may have megabytes of words. */
const LONGEST_ADVICE = 4_000

const gateWith = ({ tool, mode, isInteractive, order, session }: RunServices, ruleSets: readonly RuleSet[], sessionId: string): Gate =>
  createGate({
    tools: [tool],
    ruleSets,
    mode,
    hooks: [],
    sessionId,
    isInteractive,
    policySources: order.policySources,
    resolvePath: resolveByText,
    now: Date.now,
    newId: randomUUID,
    wait: () => ({ over: new Promise(() => undefined), cancel: () => undefined }),
    ...(session === undefined ? {} : { lifetimes: { approval: SESSION_LIFETIME } }),
  })

const MOST_QUESTIONS = 8

/** Asks until it is settled. A changed command is judged anew, and may be refused. */
export const settleRun = async (first: Evaluation, runGate: RunGate, services: RunServices, events: EventStream): Promise<Evaluation> => {
  let evaluation = first
  for (let round = 0; evaluation.kind === 'asking' && round < MOST_QUESTIONS; round += 1) {
    const { decision } = evaluation
    const common = { call_id: decision.call_id, tool: decision.tool, decision_id: decision.decision_id, approval_action_id: decision.approval_action_id ?? '' }
    await Promise.all([
      events.emit({ type: 'permission.evaluated', call_id: decision.call_id, permission_decision: decision, arguments: recordArguments(evaluation.inputs.call) }),
      events.emit({ type: 'permission.requested', ...common, reason: evaluation.why, arguments_hash: decision.arguments_hash, expires_at: decision.expires_at }),
    ])
    const by = userName()
    const answer = await askPerson(evaluation, runGate, services)
    const next = await runGate.gate.settle(evaluation, answerOf(answer, by, services))
    await events.emit({
      ...{ type: 'permission.resolved', ...common, resolution: resolutionOf(answer, next), by, reason: next.decision.decision_reason },
      ...{ scope: next.decision.scope, decision: next.decision.decision },
    } as const)
    if (next.kind === 'permitted') await keep(answer, next, by, runGate, services, events)
    evaluation = next
  }
  return evaluation
}

const resolutionOf = ({ kind }: RunAnswer, next: Evaluation) => (next.kind !== 'permitted' ? 'denied' : kind === 'edit' ? 'modified' : 'allowed')

const answerOf = (answer: RunAnswer, by: string, { order, environment }: RunServices): unknown => {
  switch (answer.kind) {
    case 'once':
    case 'always':
      return { kind: 'approve_once', by }
    case 'session':
      return { kind: 'approve_for_scope', by }
    case 'reject':
      return { kind: 'deny', by, reason: answer.reason }
    case 'edit':
      return { kind: 'modify', by, input: inputOf(order, answer.argv, environment['PATH'] ?? '') }
  }
}

const askPerson = async (evaluation: Extract<Evaluation, { kind: 'asking' }>, runGate: RunGate, services: RunServices): Promise<RunAnswer> => {
  const [{ askAboutRun }, { openDialog }, { paintFor }] = await Promise.all([import('./run-prompt.js'), import('../settings/terminal-dialog.js'), import('../text/console-text.js')])
  const { decision, inputs, why } = evaluation
  const input = inputs.call as JsonObject
  const { session, ruleFile, tool, environment } = services
  const dialog = openDialog()
  try {
    return await askAboutRun(
      {
        argv: argvOf(input),
        program: typeof input['program'] === 'string' ? input['program'] : null,
        cwd: services.order.cwd,
        boundary: tool.boundary,
        why,
        rules: decision.explain.rules.map(({ effect, place, because, standing }) => `${place} ${effect}${standing === 'decides' ? '' : ` (${standing})`}: ${because}`),
        again: decision.explain.asked_again_because,
        session: session === undefined ? { problem: 'there is no session: start one with --session NAME, or CORDON_SESSION=NAME' } : { name: session.name },
        always: (await wouldHelp(input, runGate, services)) ? { file: ruleFile } : { problem: 'a rule that allows would not do: something asks or is reserved that counts more (see above)' },
      },
      dialog,
      paintFor(2, environment),
    )
  } finally {
    dialog.close()
  }
}

/** Whether a rule for exactly this would let it run without a question the next time. */
const wouldHelp = async (input: JsonObject, { call, sessionId }: RunGate, services: RunServices): Promise<boolean> => {
  const { parseRules } = await import('../../gate/index.js')
  const { workspace, home } = services.order
  const extra = parseRules([alwaysRule(input, 'a trial')], 'a trial', { source: 'user', places: { workspace, home } })
  const trial = await gateWith(services, [...services.ruleSets, extra], sessionId).decide({ ...call, input, session: createSessionCount({}), approvals: [] })
  return trial.kind === 'permitted'
}

/** What was answered for longer than this once. */
const keep = async (answer: RunAnswer, permitted: Extract<Evaluation, { kind: 'permitted' }>, by: string, { gate, call }: RunGate, services: RunServices, events: EventStream): Promise<void> => {
  const changed = (change: 'approval' | 'rules', because: string) =>
    events.emit({ type: 'policy.changed', call_id: call.callId, change, because: `${by} answered "${answer.kind}": ${because}`, tool: RUN_TOOL, policy_hash: null, permission_state: gate.state() })
  if (answer.kind === 'session' && permitted.grant !== undefined && services.session !== undefined) {
    services.session.remember(permitted.grant)
    await changed('approval', `not asked again in the session ${services.session.name}`)
  }
  if (answer.kind !== 'always') return
  const [{ renderRuleItem }, { addRule }] = await Promise.all([import('./always-rule.js'), import('../../runtime/rule-files/index.js')])
  const day = new Date().toISOString().slice(0, 10)
  const rule = alwaysRule(permitted.inputs.call as JsonObject, `${by} approved exactly this, for always, at the prompt of cordon run on ${day}`)
  const id = `always-${day}-${randomUUID().slice(0, 8)}`
  const { workspace, home } = services.order
  await addRule(services.ruleFile, { id, text: renderRule(rule), lines: renderRuleItem(rule, id, `written by cordon run on ${new Date().toISOString()}`) }, { source: 'user', places: { workspace, home } })
  await changed('rules', `the rule ${id} was added to ${services.ruleFile}`)
}

/** A container may run as a user whom its /etc/passwd does not know. */
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return `user ${String(process.geteuid?.() ?? '?')}`
  }
}
