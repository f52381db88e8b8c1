// Changes of mode, rules and tools while a runtime lives. Each is recorded, or does not take place.
import { fail } from '../../errors/index.js'
import { MODES } from '../../gate/index.js'
import type { Evaluation, Gate, Mode, RuleSet } from '../../gate/index.js'
import { didYouMean } from '../../policy/index.js'
import { oneOf } from '../../shapes/index.js'

import type { Cordon } from '../cordon.js'
import type { EventStream } from '../events/event-stream.js'
import { optionPlace } from '../option-checks.js'
import { ownRuleSet } from '../settings/rule-sets.js'
import { requirePortable } from '../tools/function-source.js'
import { requireKnownPrerequisites, requireKnownTools } from '../tools/known-names.js'
import type { BoundTools } from './bind-tools.js'

export interface LivingState {
  readonly mode: Mode
  readonly tools: BoundTools
  /** The rule sets of this session, by their names. */
  readonly rules: ReadonlyMap<string, RuleSet>
}

interface SessionParts {
  readonly first: LivingState
  readonly gate: LivingGate
  readonly events: EventStream
  /** Throws if the parts do not fit together. */
  readonly openGate: (state: LivingState) => Gate
  /** Called after a change, and if it could not be recorded with the state before. */
  readonly onChange: (state: LivingState) => void
}

interface Change {
  readonly change: 'mode' | 'rules' | 'tools'
  readonly because: string
  readonly tool?: string
}

type SessionChanges = Pick<Cordon, 'setMode' | 'addRules' | 'removeRules' | 'addTool' | 'removeTool'>

export const createSessionChanges = ({ first, gate, events, openGate, onChange }: SessionParts): SessionChanges => {
  let state = first
  let last: Promise<void> = Promise.resolve()

  const apply = (next: LivingState, opened: Gate): Gate => {
    state = next
    onChange(next)
    return gate.replace(opened)
  }
  const perform = async (next: (now: LivingState) => LivingState, { change, because, tool }: Change): Promise<void> => {
    const before = state
    const changed = next(before)
    const replaced = apply(changed, openGate(changed))
    const policy = tool === undefined ? undefined : (changed.tools.byName.get(tool) ?? before.tools.byName.get(tool))
    try {
      await events.emit({
        type: 'policy.changed',
        call_id: null,
        change,
        because,
        tool: tool ?? null,
        policy_hash: policy?.gate.policyHash ?? null,
        permission_state: gate.state(),
      })
    } catch (error) {
      apply(before, replaced)
      throw error
    }
  }
  /** One after the other, because a change that cannot be recorded is taken back. */
  const change = (next: (now: LivingState) => LivingState, what: Change): Promise<void> => {
    last = last.catch(() => undefined).then(() => perform(next, what))
    return last
  }

  return {
    setMode: (mode) =>
      change(
        (now) => {
          oneOf(...MODES).read(mode, optionPlace('setMode', 'the mode'))
          return { ...now, mode }
        },
        { change: 'mode', because: `the host set the mode ${mode}` },
      ),
    addRules: (name, given) =>
      change(
        (now) => {
          const set = ownRuleSet(given, name, now.tools.places)
          requireKnownTools([set], [...now.tools.byName.keys()])
          return { ...now, rules: new Map([...now.rules, [name, set]]) }
        },
        { change: 'rules', because: `the host added the rules "${name}"` },
      ),
    removeRules: (name) =>
      change(
        (now) => {
          if (!now.rules.has(name)) throw notThere('rules', name, [...now.rules.keys()])
          return { ...now, rules: new Map([...now.rules].filter(([each]) => each !== name)) }
        },
        { change: 'rules', because: `the host removed the rules "${name}"` },
      ),
    addTool: (...tools) =>
      change(
        (now) => {
          for (const tool of tools) requirePortable(tool)
          const definitions = [...now.tools.list.map(({ definition }) => definition), ...tools]
          requireKnownPrerequisites(definitions)
          return { ...now, tools: now.tools.having(definitions) }
        },
        {
          change: 'tools',
          because: `the host added the tool ${tools.map(({ name }) => `"${name}"`).join(', ')}`,
          ...(tools.length === 1 ? { tool: tools[0]?.name ?? '' } : {}),
        },
      ),
    removeTool: (name) =>
      change(
        (now) => {
          const definitions = now.tools.list.map(({ definition }) => definition)
          const left = definitions.filter((each) => each.name !== name)
          if (left.length === definitions.length) throw notThere('tool', name, [...now.tools.byName.keys()])
          return { ...now, tools: now.tools.having(left) }
        },
        { change: 'tools', because: `the host removed the tool "${name}"`, tool: name },
      ),
  }
}

const notThere = (what: 'rules' | 'tool', name: string, known: readonly string[]) =>
  fail('change-refused', {
    problem: `there is no ${what === 'tool' ? 'tool' : 'rule set'} "${name}"`,
    fix: didYouMean(name, known) ?? `known: ${known.join(', ') || 'none'}`,
  })

/** The gate of a runtime whose mode, rules and tools can change. A gate itself never changes: each change makes one. */
interface LivingGate extends Gate {
  /** Returns the gate that it replaces. */
  readonly replace: (gate: Gate) => Gate
  /** False if mode, rules or tools have changed since. */
  readonly isCurrent: (evaluation: Evaluation) => boolean
}

export const createLivingGate = (first: Gate): LivingGate => {
  let current = first
  const judges = new WeakMap<Evaluation, Gate>()
  const judgedBy = (gate: Gate, evaluation: Evaluation): Evaluation => {
    judges.set(evaluation, gate)
    return evaluation
  }
  return {
    decide: async (call, wider) => {
      const gate = current
      return judgedBy(gate, await gate.decide(call, wider))
    },
    // Only the gate that asked can take the answer.
    settle: async (question, answer) => {
      const gate = judges.get(question) ?? current
      return judgedBy(gate, await gate.settle(question, answer))
    },
    state: () => current.state(),
    runHooks: (point, subject) => current.runHooks(point, subject),
    replace: (gate) => {
      const replaced = current
      current = gate
      return replaced
    },
    isCurrent: (evaluation) => judges.get(evaluation) === current,
  }
}
