// The gate of a runtime whose mode, rules and tools can change. A gate itself never changes. Each change makes a new
// one.
import type { Evaluation, Gate } from '../../gate/index.js'

export interface LivingGate extends Gate {
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
