// Asks the person at the terminal about a command, and keeps their answer.
import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'

import { createSessionCount, parseRules } from '../gate/index.js'
import type { ApprovalAnswer, ApprovalGrant, JsonObject, JsonValue } from '../gate/index.js'
import type { PolicyChange } from '../runtime/events/index.js'
import type { ApprovalRequest } from '../runtime/index.js'

import { visibleWord } from '../line/text/visible-text.js'
import { ALWAYS_ID, alwaysRule, renderRule, renderRuleItem } from './always-rule.js'
import { gateWith } from './run-gate.js'
import type { RunGate, PreparedRun } from './run-gate.js'
import type { RunAnswer } from './run-prompt.js'
import { argvOf, inputOf } from './run-tool.js'

interface Person {
  /** Why asking failed. */
  readonly failure: () => Error | undefined
  readonly approve: (request: ApprovalRequest) => Promise<ApprovalAnswer>
  /** Stores an answer that is valid beyond this run. */
  readonly onApproved: (grant: ApprovalGrant, input: JsonValue) => Promise<readonly PolicyChange[]>
}

export const personAtTerminal = (runGate: RunGate, prepared: PreparedRun): Person => {
  const by = userName()
  let answer: RunAnswer | undefined
  let failure: Error | undefined
  return {
    failure: () => failure,
    approve: async (request) => {
      try {
        answer = await askPerson(request, runGate, prepared)
        return answerOf(answer, by, prepared)
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error))
        throw error
      }
    },
    onApproved: async (grant, input) => {
      if (answer?.kind === 'session' && prepared.session !== undefined) {
        prepared.session.remember({ grant, command: argvOf(input).map(visibleWord).join(' ') })
        return [changed('approval', by, answer, `not asked again in the session ${prepared.session.name}`)]
      }
      if (answer?.kind !== 'always') return []
      const id = await addAlwaysRule(input as JsonObject, by, prepared)
      return [changed('rules', by, answer, `the rule ${id} was added to ${prepared.ruleFile}`)]
    },
  }
}

const changed = (change: PolicyChange['change'], by: string, { kind }: RunAnswer, because: string): PolicyChange => ({
  change,
  because: `${by} answered "${kind}": ${because}`,
})

const answerOf = (answer: RunAnswer, by: string, { order, environment }: PreparedRun): ApprovalAnswer => {
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
  prepared: PreparedRun,
): Promise<RunAnswer> => {
  const [{ askAboutRun }, { openDialog }, { paintFor }] = await Promise.all([
    import('./run-prompt.js'),
    import('./terminal/terminal-dialog.js'),
    import('../line/text/console-text.js'),
  ])
  const input = asked as JsonObject
  const { session, ruleFile, tool, environment } = prepared
  const dialog = openDialog()
  try {
    return await askAboutRun(
      {
        argv: argvOf(input),
        program: typeof input['program'] === 'string' ? input['program'] : null,
        cwd: prepared.order.cwd,
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
        always: (await wouldHelp(input, runGate, prepared))
          ? { file: ruleFile }
          : {
              problem:
                'an allow rule would not help: a stricter rule asks, or only managed rules may allow this (see above)',
            },
      },
      dialog,
      paintFor(2, environment),
    )
  } finally {
    dialog.close()
  }
}

/** Whether an allow rule would prevent the next question. */
const wouldHelp = async (input: JsonObject, { call, sessionId }: RunGate, prepared: PreparedRun): Promise<boolean> => {
  const { workspace, home } = prepared.order
  const extra = parseRules([alwaysRule(input, 'a trial')], 'a trial', { source: 'user', places: { workspace, home } })
  const trial = await gateWith(prepared, [...prepared.ruleSets, extra], sessionId).decide({
    ...call,
    input,
    count: createSessionCount({}),
    approvals: [],
  })
  return trial.kind === 'permitted'
}

const addAlwaysRule = async (
  input: JsonObject,
  by: string,
  { ruleFile, order: { workspace, home } }: PreparedRun,
): Promise<string> => {
  const { addRule } = await import('../runtime/rule-files/index.js')
  const now = new Date().toISOString()
  const day = now.slice(0, 10)
  const rule = alwaysRule(input, `${by} approved exactly this, for always, at the prompt of cordon run on ${day}`)
  const id = `${ALWAYS_ID}${day}-${randomUUID().slice(0, 8)}`
  await addRule(
    ruleFile,
    { id, text: renderRule(rule), lines: renderRuleItem(rule, id, `written by cordon run on ${now}`) },
    { source: 'user', places: { workspace, home } },
  )
  return id
}

/** The user of a container may be missing in /etc/passwd. */
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return `user ${String(process.geteuid?.() ?? '?')}`
  }
}
