import { answerOfMode } from './rules/modes.js'
import type { Mode } from './rules/modes.js'
import type { RuleSet } from './rules/load-rules.js'
import { EFFECTS } from './rules/rule.js'
import type { Effect, Rule } from './rules/rule.js'
import type { GateTool } from './tool.js'

/** What a call of the tool gets, if no hook and no rule about arguments concerns it. */
export const usualOutcome = (tool: GateTool, sets: readonly RuleSet[], mode: Mode): Effect => {
  const rules = sets.flatMap((set) => set.rules.filter((rule) => isAboutTool(rule, tool.name)))
  const effect = EFFECTS.find((candidate) => rules.some((rule) => rule.effect === candidate)) ?? 'unmatched'
  if (effect === 'deny') return 'deny'
  const isDestructive = tool.destructive !== undefined || rules.some(({ destructive }) => destructive !== undefined)
  const { kind } = answerOfMode(mode, {
    effect,
    obligation: tool.needsApproval ? 'approval' : 'none',
    isLowRisk: tool.boundary.risk.level === 'low' && !isDestructive,
    isReadOnly: tool.isReadOnly && !isDestructive,
    isSandboxed: tool.runs === 'sandboxed' && tool.hasPolicy,
  })
  switch (kind) {
    case 'run':
      return 'allow'
    case 'ask':
    // The classifier may also allow it or deny it.
    case 'classify':
      return 'ask'
    case 'deny':
    case 'unavailable':
      return 'deny'
  }
}

const isAboutTool = ({ tools, arguments: given, paths, hosts, commands }: Rule, name: string): boolean =>
  [given, paths, hosts, commands].every((conditions) => conditions.length === 0) &&
  (tools.length === 0 || tools.some((pattern) => pattern.matches(name)))
