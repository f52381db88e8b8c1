// The first half of a decision, for every input, also for one that a hook or an approver changed: parse, copy,
// constraints, argument gate.
import { CordonError, fail } from '../errors/index.js'
import { describeValue } from '../policy/index.js'

import type { ArgumentGate } from './arguments/argument-gate.js'
import type { RuleFacts } from './call-facts.js'
import { factsOf } from './call-facts.js'
import { sizeOf } from './input/canonical-json.js'
import type { DecisionSource } from './record/permission-decision.js'
import { withStep } from './draft.js'
import type { Draft } from './draft.js'
import { takeSnapshot } from './input/json-value.js'
import type { JsonValue } from './input/json-value.js'
import { thrownMessage } from './thrown-message.js'
import type { ParsedInput } from './input/parameter-marks.js'
import type { GateTool } from './tool.js'

type GatedInput =
  | { readonly kind: 'gated'; readonly draft: Draft; readonly facts: RuleFacts }
  | { readonly kind: 'refused'; readonly draft: Draft; readonly source: DecisionSource; readonly denial: CordonError }

/** `seen`: what was shown to whoever changed the input. Undefined for the input of a model. */
export const gateInput = async (
  given: Draft,
  tool: GateTool,
  gate: ArgumentGate,
  input: JsonValue,
  now: number,
  seen: JsonValue | undefined,
): Promise<GatedInput> => {
  const isRead = seen !== undefined && !(await isFixedPoint(tool, seen))
  const parsed = isRead ? ({ kind: 'input', value: input } as const) : await parseSafely(tool, input)
  if (parsed instanceof CordonError) return refused(given, 'input', 'schema', parsed)
  if (parsed.kind === 'problem')
    return refused(given, 'input', 'schema', fail('input-invalid', { tool: tool.name, problem: parsed.problem }))
  // An unchanged input is a snapshot already.
  const snapshot = parsed.value === input ? ({ kind: 'json', value: input } as const) : takeSnapshot(parsed.value)
  if (snapshot.kind === 'problem') return refused(given, 'input', 'schema', notJson(tool.name, snapshot))
  const { hash, bytes } = sizeOf(snapshot.value)
  const found = { input: snapshot.value, argumentsHash: hash, argumentBytes: bytes }
  return gateParsed(
    withStep(given, 'input', isRead ? 'not read again by a schema that transforms it' : 'fits the schema', found),
    tool,
    gate,
    now,
  )
}

export const notJson = (
  tool: string,
  { where, problem }: { readonly where: string; readonly problem: string },
): CordonError => fail('input-not-json', { tool, where, problem })

/** Whether the schema leaves a value alone that it has read before. One with transforms may not. */
const isFixedPoint = async (tool: GateTool, read: JsonValue): Promise<boolean> => {
  const again = await parseSafely(tool, read)
  if (again instanceof CordonError || again.kind === 'problem') return false
  const snapshot = takeSnapshot(again.value)
  return snapshot.kind === 'json' && sizeOf(snapshot.value).hash === sizeOf(read).hash
}

/** Repeated after an approval, because a link may lead elsewhere by then. */
export const gateParsed = (draft: Draft, tool: GateTool, gate: ArgumentGate, now: number): GatedInput => {
  const { argumentBytes, call } = draft
  const constrained = call.count.denial({ tool: tool.name, constraints: tool.constraints, argumentBytes }, now)
  if (constrained !== undefined) return refused(draft, 'constraints', 'constraint', constrained)
  const gated = gate(draft.input)
  if (gated.kind === 'denied') return refused(draft, 'arguments', 'policy', gated.denial)
  const { paths, urls, usedDeclaredCapability } = gated
  try {
    // Made once, so that the judged command is the one that runs.
    const given: unknown = tool.command?.(draft.input)
    if (tool.command !== undefined && !isWords(given))
      return refused(draft, 'arguments', 'schema', fail('command-invalid', { tool: tool.name, found: foundIn(given) }))
    const command = isWords(given) ? Object.freeze([...given]) : undefined
    const facts = factsOf({ tool, input: draft.input, paths, urls, argv: command })
    const outcome =
      tool.argumentGate === 'off'
        ? 'not looked at: the host has turned the argument gate off'
        : `${paths.length} paths and ${urls.length} URLs, all within the policy`
    return { kind: 'gated', draft: withStep(draft, 'arguments', outcome, { usedDeclaredCapability, command }), facts }
  } catch (error) {
    // `tool.command` is code of the tool's author.
    return refused(draft, 'arguments', 'schema', codeFailed(tool, 'command', error))
  }
}

const refused = (
  draft: Draft,
  step: 'input' | 'constraints' | 'arguments',
  source: DecisionSource,
  denial: CordonError,
): GatedInput => ({
  kind: 'refused',
  draft: withStep(draft, step, denial.message),
  source,
  denial,
})

/** Not a text, which JavaScript would spread into letters. */
const isWords = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string')

const foundIn = (value: unknown): string => {
  if (value instanceof Promise) return 'a promise'
  if (!Array.isArray(value)) return describeValue(value)
  const at = value.findIndex((word) => typeof word !== 'string')
  return at === -1 ? 'an empty list' : `a list whose item ${at} is ${describeValue(value[at])}`
}

const parseSafely = async (tool: GateTool, input: unknown): Promise<ParsedInput | CordonError> => {
  try {
    return await tool.parse(input)
  } catch (error) {
    return codeFailed(tool, 'schema', error)
  }
}

/** The model reads only errors of Cordon's own: any other may name hosts and files. */
const codeFailed = ({ name: tool }: GateTool, part: 'schema' | 'command', error: unknown): CordonError =>
  fail(
    'input-unusable',
    { tool, part, problem: thrownMessage(error), told: error instanceof CordonError ? ` ${error.agentMessage}` : '' },
    error,
  )
