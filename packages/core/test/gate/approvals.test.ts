import { describe, expect, it } from 'vitest'

import { checkPermit } from '../../src/gate/index.js'
import type { ApprovalGrant, Evaluation } from '../../src/gate/index.js'

import { NOW, callOf, decide, gateWith, hook, outcomeOf, toolWith } from './stage.js'
import type { Staged } from './stage.js'

const tool = toolWith({ policy: { risk: 'high', filesystem: { read: ['/data/**'] } } })

const asked = async (staged: Staged = {}, input: unknown = { path: '/data/a' }) => {
  const gate = gateWith({ tools: [tool], ...staged })
  const question = await gate.decide(callOf(input))
  expect(question.kind).toBe('asking')
  return { gate, question }
}
const settled = async (answer: unknown, staged: Staged = {}) => {
  const { gate, question } = await asked(staged)
  return gate.settle(question, answer)
}
const permits = (evaluation: Evaluation, input: unknown) =>
  evaluation.kind === 'permitted' &&
  checkPermit(evaluation.permit, { tool: 'tool', arguments: input, policyHash: tool.policyHash, now: NOW }).kind ===
    'valid'

describe('an approval', () => {
  it('approves exactly the call that was asked about', async () => {
    const evaluation = await settled({ kind: 'approve_once', by: 'ann' })
    expect(evaluation).toMatchObject({
      kind: 'permitted',
      decision: { decision: 'allow', decision_source: 'approver', scope: 'call', decision_reason: 'approved by ann' },
    })
    expect(permits(evaluation, { path: '/data/b' })).toBe(false)
    expect(permits(evaluation, { path: '/data/a' })).toBe(true)
  })

  it('is found by the id of its request', async () => {
    const { gate, question } = await asked()
    const { decision } = await gate.settle(question, { kind: 'approve_once', by: 'ann' })
    expect(decision.approval_action_id).toBe(question.decision.approval_action_id)
    expect(decision.approval_action_id).not.toBeNull()
  })

  it('cannot be given twice', async () => {
    const { gate, question } = await asked()
    await gate.settle(question, { kind: 'approve_once', by: 'ann' })
    expect(outcomeOf(await gate.settle(question, { kind: 'approve_once', by: 'ann' }))).toBe('deny approval-refused')
  })

  it('cannot be given by the caller', async () => {
    const { gate, question } = await asked()
    expect(outcomeOf(await gate.settle(question, { kind: 'approve_once', by: 'agent' }))).toBe('deny approval-refused')
    expect(outcomeOf(await gate.settle(question, { kind: 'approve_once', by: 'ann' }))).toBe('allow')
  })

  it('cannot be given after the request has expired', async () => {
    let time = NOW
    const { gate, question } = await asked({ now: () => time, lifetimes: { approval: 1000 } })
    time += 1000
    expect(outcomeOf(await gate.settle(question, { kind: 'approve_once', by: 'ann' }))).toBe('deny approval-refused')
  })

  it.each([
    'yes',
    'approved, go ahead',
    true,
    { approved: true },
    { kind: 'approve' },
    { kind: 'approve_once' },
    { kind: 'approve_once', by: '' },
    { kind: 'approve_once', by: 'ann', also: 'x' },
    null,
    undefined,
    [],
  ])('is not read from %j', async (answer) => {
    const { gate, question } = await asked()
    expect(outcomeOf(await gate.settle(question, answer))).toBe('deny approval-refused')
    expect(outcomeOf(await gate.settle(question, { kind: 'approve_once', by: 'ann' }))).toBe('allow')
  })

  it('cannot be forged, neither for a copy of a request nor at another gate', async () => {
    const { gate, question } = await asked()
    await expect(gate.settle({ ...question }, { kind: 'approve_once', by: 'ann' })).rejects.toMatchObject({
      code: 'approval-refused',
    })
    await expect(
      gateWith({ tools: [tool] }).settle(question, { kind: 'approve_once', by: 'ann' }),
    ).rejects.toMatchObject({ code: 'approval-refused' })
  })

  it('resolves links again, because they may change while a person thinks', async () => {
    let target = '/data/a'
    const resolvePath = () => ({ kind: 'object' as const, path: target as never, exists: true, parentExists: true })
    const { gate, question } = await asked({ resolvePath })
    target = '/etc/shadow'
    expect(outcomeOf(await gate.settle(question, { kind: 'approve_once', by: 'ann' }))).toBe(
      'deny argument-path-denied',
    )
  })

  it('counts against the constraints when it is given', async () => {
    const once = toolWith({ policy: { risk: 'high' }, constraints: { maxInvocations: 1 } })
    const gate = gateWith({ tools: [once] })
    const { count } = callOf()
    const questions = [await gate.decide(callOf({}, { count })), await gate.decide(callOf({}, { count }))]
    const outcomes = []
    for (const question of questions)
      outcomes.push(outcomeOf(await gate.settle(question, { kind: 'approve_once', by: 'ann' })))
    expect(outcomes).toEqual(['allow', 'deny tool-exhausted'])
  })
})

describe('a rejection', () => {
  it('denies, with a reason that the model sees', async () => {
    const evaluation = await settled({ kind: 'deny', by: 'ann', reason: 'not on Fridays' })
    expect(evaluation.decision).toMatchObject({
      decision: 'deny',
      decision_source: 'approver',
      error_code: 'approval-rejected',
      agent_reason: 'The call was rejected: not on Fridays',
    })
  })
})

describe('no answer in time', () => {
  it("denies, unless the host's default is to approve", async () => {
    expect(outcomeOf(await settled({ kind: 'timed_out' }))).toBe('deny approval-unanswered')
    expect(outcomeOf(await settled({ kind: 'timed_out', then: 'deny' }))).toBe('deny approval-unanswered')
    expect(outcomeOf(await settled({ kind: 'timed_out', then: 'approve' }))).toBe('allow')
  })

  it('never approves a destructive call', async () => {
    const tools = [
      toolWith({
        policy: { risk: 'high', filesystem: { read: ['/data/**'] } },
        destructive: { impactScope: 'x', rollbackAdvice: 'y' },
      }),
    ]
    expect(outcomeOf(await settled({ kind: 'timed_out', then: 'approve' }, { tools }))).toBe('deny approval-unanswered')
  })
})

describe('an invalid answer', () => {
  it.each(['escalate', 'request_more_info'])('%s leaves the request open', async (kind) => {
    const { gate, question } = await asked()
    expect(await gate.settle(question, { kind, by: 'ann', reason: 'ask bob' })).toBe(question)
    expect(outcomeOf(await gate.settle(question, { kind: 'approve_once', by: 'bob' }))).toBe('allow')
  })
})

describe('an approver who changes the input', () => {
  it('approves the changed input, and nothing else', async () => {
    const evaluation = await settled({ kind: 'modify', by: 'ann', input: { path: '/data/b' } })
    expect(evaluation).toMatchObject({
      kind: 'permitted',
      inputs: { model: { path: '/data/a' }, call: { path: '/data/b' } },
      decision: { decision_source: 'approver' },
    })
    expect(evaluation.decision.updated_input_ref).toBe(evaluation.decision.arguments_hash)
    expect(permits(evaluation, { path: '/data/a' })).toBe(false)
  })

  it('cannot bypass the gate, a rule or a hook', async () => {
    expect(outcomeOf(await settled({ kind: 'modify', by: 'ann', input: { path: '/etc/shadow' } }))).toBe(
      'deny argument-path-denied',
    )
    const rules = [{ effect: 'deny', paths: ['/data/b'], because: 'x' }]
    expect(outcomeOf(await settled({ kind: 'modify', by: 'ann', input: { path: '/data/b' } }, { rules }))).toBe(
      'deny rule-denied',
    )
    const hooks = [hook((event) => (JSON.stringify(event.input).includes('/data/b') ? { decision: 'deny' } : {}))]
    expect(outcomeOf(await settled({ kind: 'modify', by: 'ann', input: { path: '/data/b' } }, { hooks }))).toBe(
      'deny hook-denied',
    )
  })

  it('is asked again if a hook changes the input once more', async () => {
    const hooks = [
      hook((event) => (JSON.stringify(event.input).includes('/data/b') ? { updatedInput: { path: '/data/c' } } : {})),
    ]
    const evaluation = await settled({ kind: 'modify', by: 'ann', input: { path: '/data/b' } }, { hooks })
    expect(evaluation).toMatchObject({ kind: 'asking', inputs: { call: { path: '/data/c' } } })
  })
})

describe('an earlier approval', () => {
  const grantFor = async (change: Partial<ApprovalGrant> = {}): Promise<ApprovalGrant> => {
    const evaluation = await settled({ kind: 'approve_for_scope', by: 'ann' })
    if (evaluation.kind !== 'permitted' || evaluation.grant === undefined) throw new Error('no grant')
    return { ...evaluation.grant, ...change }
  }
  const again = async (grant: ApprovalGrant, input: unknown = { path: '/data/a' }) =>
    decide({ tools: [tool] }, input, { approvals: [grant] })

  it('for the session answers the same request again', async () => {
    const evaluation = await again(await grantFor())
    expect(evaluation.decision).toMatchObject({
      decision: 'allow',
      decision_source: 'approver',
      scope: 'session',
      decision_reason: 'approved before by ann',
    })
  })

  it.each<[string, Partial<ApprovalGrant>, RegExp]>([
    ['has expired', { expires_at: NOW }, /expired at/],
    ['was revoked', { status: 'revoked' }, /is revoked/],
    ['was superseded', { status: 'superseded' }, /is superseded/],
    ['is still pending', { status: 'pending' }, /is pending/],
    ['was given before the policy changed', { policy_hash: 'sha256:other' }, /before the policy of the tool changed/],
    ['was for other arguments', { arguments_hash: 'sha256:other' }, /for other arguments/],
  ])('is not used if it %s, and the request says why it asks again', async (_, change, message) => {
    const { decision } = await again(await grantFor(change))
    expect(decision.decision).toBe('ask')
    expect(decision.explain.asked_again_because.join()).toMatch(message)
  })

  it('for one call answers once', async () => {
    const grant = await grantFor({ scope: 'call' })
    const gate = gateWith({ tools: [tool] })
    const outcomes = []
    for (let at = 0; at < 2; at += 1)
      outcomes.push(outcomeOf(await gate.decide(callOf({ path: '/data/a' }, { approvals: [grant] }))))
    expect(outcomes).toEqual(['allow', 'ask'])
  })

  it('does not override a denial or the mode plan', async () => {
    const approvals = [await grantFor()]
    const input = { path: '/data/a' }
    expect(
      outcomeOf(await decide({ tools: [tool], rules: [{ effect: 'deny', because: 'x' }] }, input, { approvals })),
    ).toBe('deny rule-denied')
    const writing = [toolWith({ policy: { risk: 'high', filesystem: { write: ['/data/**'] } } })]
    expect(outcomeOf(await decide({ tools: writing, mode: 'plan' }, input, { approvals }))).toBe('deny mode-denies')
  })
})
