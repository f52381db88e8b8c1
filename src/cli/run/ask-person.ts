// The person at the terminal: what they are asked about a command, and what follows from their answer.
import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'

import { createSessionCount } from '../../gate/index.js'
import type { ApprovalAnswer, ApprovalGrant, JsonObject, JsonValue } from '../../gate/index.js'
import type { ApprovalRequest } from '../../runtime/index.js'
import type { PolicyChange } from '../../runtime/events/index.js'

import { alwaysRule, renderRule } from './always-rule.js'
import { gateWith } from './run-gate.js'
import type { RunGate, RunServices } from './run-gate.js'
import type { RunAnswer } from './run-prompt.js'
import { argvOf, inputOf } from './run-tool.js'

export interface Person {
  /** Why nobody could be asked, although there is a terminal. */
  readonly failure: () => Error | undefined
  readonly approve: (request: ApprovalRequest) => Promise<ApprovalAnswer>
  /** Keeps an answer that holds for longer than this run. */
  readonly onApproved: (grant: ApprovalGrant, input: JsonValue) => Promise<readonly PolicyChange[]>
}

export const personAtTerminal = (runGate: RunGate, services: RunServices): Person => {
  const by = userName()
  let answer: RunAnswer | undefined
  let failure: Error | undefined
  return {
    failure: () => failure,
    approve: async (request) => {
      try {
        answer = await askPerson(request, runGate, services)
        return answerOf(answer, by, services)
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error))
        throw error
      }
    },
    onApproved: async (grant, input) => {
      if (answer?.kind === 'session' && services.session !== undefined) {
        services.session.remember(grant)
        return [changed('approval', by, answer, `not asked again in the session ${services.session.name}`)]
      }
      if (answer?.kind !== 'always') return []
      const id = await addAlwaysRule(input as JsonObject, by, services)
      return [changed('rules', by, answer, `the rule ${id} was added to ${services.ruleFile}`)]
    },
  }
}

const changed = (change: PolicyChange['change'], by: string, { kind }: RunAnswer, because: string): PolicyChange => ({
  change,
  because: `${by} answered "${kind}": ${because}`,
})

const answerOf = (answer: RunAnswer, by: string, { order, environment }: RunServices): ApprovalAnswer => {
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

const askPerson = async (
  { input: asked, reason, decision }: ApprovalRequest,
  runGate: RunGate,
  services: RunServices,
): Promise<RunAnswer> => {
  const [{ askAboutRun }, { openDialog }, { paintFor }] = await Promise.all([
    import('./run-prompt.js'),
    import('../settings/terminal-dialog.js'),
    import('../text/console-text.js'),
  ])
  const input = asked as JsonObject
  const { session, ruleFile, tool, environment } = services
  const dialog = openDialog()
  try {
    return await askAboutRun(
      {
        argv: argvOf(input),
        program: typeof input['program'] === 'string' ? input['program'] : null,
        cwd: services.order.cwd,
        boundary: tool.boundary,
        why: reason,
        rules: decision.explain.rules.map(
          ({ effect, place, because, standing }) =>
            `${place} ${effect}${standing === 'decides' ? '' : ` (${standing})`}: ${because}`,
        ),
        again: decision.explain.asked_again_because,
        session:
          session === undefined
            ? { problem: 'there is no session: start one with --session NAME, or CORDON_SESSION=NAME' }
            : { name: session.name },
        always: (await wouldHelp(input, runGate, services))
          ? { file: ruleFile }
          : { problem: 'a rule that allows would not do: something asks or is reserved that counts more (see above)' },
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
  const trial = await gateWith(services, [...services.ruleSets, extra], sessionId).decide({
    ...call,
    input,
    session: createSessionCount({}),
    approvals: [],
  })
  return trial.kind === 'permitted'
}

const addAlwaysRule = async (
  input: JsonObject,
  by: string,
  { ruleFile, order: { workspace, home } }: RunServices,
): Promise<string> => {
  const [{ renderRuleItem }, { addRule }] = await Promise.all([
    import('./always-rule.js'),
    import('../../runtime/rule-files/index.js'),
  ])
  const now = new Date().toISOString()
  const day = now.slice(0, 10)
  const rule = alwaysRule(input, `${by} approved exactly this, for always, at the prompt of cordon run on ${day}`)
  const id = `always-${day}-${randomUUID().slice(0, 8)}`
  await addRule(
    ruleFile,
    { id, text: renderRule(rule), lines: renderRuleItem(rule, id, `written by cordon run on ${now}`) },
    { source: 'user', places: { workspace, home } },
  )
  return id
}

/** A container may run as a user whom its /etc/passwd does not know. */
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return `user ${String(process.geteuid?.() ?? '?')}`
  }
}
