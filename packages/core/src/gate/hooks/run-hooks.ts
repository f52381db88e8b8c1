import { CordonError, fail } from '../../errors/index.js'
import { isMapping } from '../../shapes/index.js'

import { canonicalJson, hashOf } from '../input/canonical-json.js'
import { parseHookAnswer } from './hook.js'
import type { Hook, HookAnswer, HookEvent, HookPoint } from './hook.js'
import { takeSnapshot } from '../input/json-value.js'
import type { JsonValue } from '../input/json-value.js'
import { thrownMessage } from '../thrown-message.js'

/** A timer of the caller, because this room has no clock. */
export type Wait = (milliseconds: number) => { readonly over: Promise<void>; readonly cancel: () => void }

/** The joint answer of all hooks of one point. The strictest counts, in any order. */
export type HookVerdict =
  | Denied
  | {
      readonly kind: 'passed'
      readonly effect: 'ask' | 'allow' | 'none'
      /** The hooks that asked or allowed. */
      readonly hooks: readonly string[]
      readonly reason: string
      readonly updatedInput: Value | undefined
      readonly result: Value | undefined
      readonly updatedOutput: Value | undefined
      readonly suppressOutput: boolean
      readonly context: readonly string[]
      readonly auditRefs: readonly string[]
    }

interface Denied {
  readonly kind: 'denied'
  readonly denial: CordonError
}

/** Wrapped, because `null` is a value too. */
export interface Value {
  readonly value: JsonValue
}

/** What a hook did, for the record. If recording fails, the decision fails. */
export type HookReport = { readonly hook: string; readonly event: HookEvent } & (
  | { readonly kind: 'started' }
  | { readonly kind: 'completed'; readonly answer: HookAnswer; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly problem: string; readonly durationMs: number }
)

export interface HookRunner {
  readonly hooks: readonly Hook[]
  readonly onReport: (report: HookReport) => Promise<void>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly wait: Wait
  /** Milliseconds, for hooks without a timeout. */
  readonly timeout: number
  /** The sources whose allows count. Undefined: all. */
  readonly allowsFrom: ReadonlySet<Hook['source']> | undefined
}

export const hasHooks = ({ hooks }: HookRunner, point: HookPoint): boolean =>
  hooks.some(({ points }) => points.includes(point))

export const runHooks = async (runner: HookRunner, event: HookEvent): Promise<HookVerdict> => {
  const hooks = runner.hooks.filter(({ points }) => points.includes(event.point))
  // All at once with the same event, so that no hook can hide anything from another.
  const answers = await Promise.all(hooks.map(async (hook) => ({ hook, answer: await reported(hook, event, runner) })))
  return combine(answers, event, runner)
}

type Asked = { readonly hook: Hook; readonly answer: Answered }
type Answered =
  | { readonly kind: 'answer'; readonly answer: HookAnswer; readonly denial?: CordonError }
  | { readonly kind: 'failed'; readonly problem: string }

const reported = async (hook: Hook, event: HookEvent, runner: HookRunner): Promise<Answered> => {
  await runner.onReport({ kind: 'started', hook: hook.name, event })
  const began = runner.now()
  const answered = await askHook(hook, event, runner)
  const done = { hook: hook.name, event, durationMs: Math.max(0, runner.now() - began) }
  await runner.onReport(
    answered.kind === 'failed'
      ? { ...done, kind: 'failed', problem: answered.problem }
      : { ...done, kind: 'completed', answer: answered.answer },
  )
  return answered
}

const askHook = async (hook: Hook, event: HookEvent, { wait, timeout }: HookRunner): Promise<Answered> => {
  const limit = hook.timeout ?? timeout
  const abort = new AbortController()
  const clock = wait(limit)
  try {
    const answer = await Promise.race([
      (async () => ({ value: await hook.run(event, { signal: abort.signal }) }))(),
      clock.over.then(() => 'late' as const),
    ])
    if (answer === 'late') {
      abort.abort()
      return { kind: 'failed', problem: `no answer within ${limit} ms` }
    }
    return { kind: 'answer', answer: parseHookAnswer(answer.value, `hook ${hook.name}`) }
  } catch (error) {
    if (hook.throwsDenials === true && error instanceof CordonError)
      return { kind: 'answer', answer: { decision: 'deny', reason: error.message }, denial: error }
    return { kind: 'failed', problem: thrownMessage(error) }
  } finally {
    clock.cancel()
  }
}

const combine = (asked: readonly Asked[], event: HookEvent, runner: HookRunner): HookVerdict => {
  const [denial] = asked.flatMap(({ hook, answer }) => denialOf(hook, answer) ?? [])
  if (denial !== undefined) return denial

  const answers = asked.flatMap(({ hook, answer }) =>
    answer.kind === 'answer' ? [{ hook, answer: answer.answer }] : [],
  )
  const input = merged(answers, 'updatedInput', event.input)
  const result = merged(answers, 'result', undefined)
  const output = merged(answers, 'updatedOutput', undefined)
  if (input.kind === 'denied') return input
  if (result.kind === 'denied') return result
  if (output.kind === 'denied') return output
  const asking = answers.filter(({ answer }) => answer.decision === 'ask')
  const allowing = answers.filter(
    ({ hook, answer }) => answer.decision === 'allow' && runner.allowsFrom?.has(hook.source) !== false,
  )
  const deciding = asking.length > 0 ? asking : allowing
  return {
    kind: 'passed',
    effect: asking.length > 0 ? 'ask' : allowing.length > 0 ? 'allow' : 'none',
    hooks: deciding.map(({ hook }) => hook.name),
    reason: deciding.flatMap(({ answer }) => answer.reason ?? []).join('; '),
    updatedInput:
      input.value !== undefined && hashOf(input.value.value) !== hashOf(event.input) ? input.value : undefined,
    result: result.value,
    updatedOutput: output.value,
    suppressOutput: answers.some(({ answer }) => answer.suppressOutput === true),
    context: answers.flatMap(({ answer }) => answer.context ?? []),
    auditRefs: answers.flatMap(({ answer }) => answer.auditRefs ?? []),
  }
}

const denied = (denial: CordonError): Denied => ({ kind: 'denied', denial })

const denialOf = ({ name }: Hook, answer: Answered): Denied | undefined => {
  if (answer.kind === 'failed') return denied(fail('hook-failed', { hook: name, problem: answer.problem }))
  const { decision, reason } = answer.answer
  if (decision !== 'deny' && decision !== 'block') return undefined
  return denied(answer.denial ?? fail('hook-denied', { hook: name, reason: reason ?? 'no reason given' }))
}

type Merged = Denied | { readonly kind: 'merged'; readonly value: Value | undefined }

const merged = (
  answers: readonly { readonly hook: Hook; readonly answer: HookAnswer }[],
  key: 'updatedInput' | 'result' | 'updatedOutput',
  base: JsonValue | undefined,
): Merged => {
  const edits: Edit[] = []
  for (const { hook, answer } of answers) {
    if (!(key in answer)) continue
    const snapshot = takeSnapshot(answer[key])
    if (snapshot.kind === 'problem') {
      const problem = `${key} is not plain JSON: ${snapshot.where} ${snapshot.problem}`
      return denied(fail('hook-failed', { hook: hook.name, problem }))
    }
    edits.push({ hook: hook.name, value: snapshot.value })
  }
  return mergeEdits(base, edits)
}

interface Edit {
  readonly hook: string
  readonly value: JsonValue
}

/**
 * Joins edits of different keys and equal edits. Different edits of one key are a disagreement, so that the order of
 * the hooks does not matter.
 */
const mergeEdits = (base: JsonValue | undefined, edits: readonly Edit[]): Merged => {
  const [first, ...others] = edits
  if (first === undefined || others.every(({ value }) => isSame(value, first.value)))
    return { kind: 'merged', value: first && { value: first.value } }
  if (!isMapping(base) || !edits.every(({ value }) => isMapping(value)))
    return disagreement(
      'all of it',
      edits.map(({ hook }) => hook),
    )

  const changes = new Map<string, { readonly hook: string; readonly value: JsonValue | undefined }>()
  for (const { hook, value } of edits) {
    if (!isMapping(value)) continue
    for (const key of new Set([...Object.keys(base), ...Object.keys(value)])) {
      const before = base[key]
      const after = value[key]
      if (isSame(before, after)) continue
      const earlier = changes.get(key)
      if (earlier !== undefined && !isSame(earlier.value, after)) return disagreement(key, [earlier.hook, hook])
      changes.set(key, { hook, value: after })
    }
  }
  const changed = { ...base, ...Object.fromEntries(Array.from(changes, ([key, { value }]) => [key, value])) }
  const kept = Object.entries(changed).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined)
  return { kind: 'merged', value: { value: Object.freeze(Object.fromEntries(kept)) } }
}

const disagreement = (key: string, hooks: readonly string[]): Denied =>
  denied(fail('hooks-disagree', { hooks: hooks.join(', '), key }))

const isSame = (one: JsonValue | undefined, other: JsonValue | undefined): boolean => {
  if (one === undefined || other === undefined) return one === other
  return canonicalJson(one) === canonicalJson(other)
}
