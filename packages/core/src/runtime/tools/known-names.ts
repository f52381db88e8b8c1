// Checks the names of tools in constraints and rules, and of variables in policies. A misspelt one has no effect.
import { fail } from '../../errors/index.js'
import type { Rule, RuleSet } from '../../gate/index.js'
import { didYouMean, TOOL_KINDS } from '../../policy/index.js'
import { unsetVariables } from '../../sandbox/index.js'

import type { CordonOptions } from '../cordon-options.js'
import type { BoundTool } from './bound-tool.js'
import type { ToolDefinition } from './tools.js'

export const hintFor = (name: string, known: readonly string[]): string =>
  didYouMean(name, known) ?? (known.length === 0 ? 'this runtime has no tools' : `known: ${known.join(', ')}`)

/** A tool that may only run after one that does not exist would never run. */
export const requireKnownPrerequisites = (tools: readonly ToolDefinition[]): void => {
  const known = tools.map(({ name }) => name)
  for (const { name, constraints } of tools) {
    for (const wanted of constraints.onlyAfter) {
      if (!known.includes(wanted))
        throw fail('tool-unknown-here', {
          where: `constraints.onlyAfter of the tool "${name}"`,
          tool: wanted,
          fix: hintFor(wanted, known),
        })
    }
  }
}

/** For rules of this runtime. */
export const requireKnownTools = (sets: readonly RuleSet[], known: readonly string[]): void => {
  for (const { rule, name } of unknownIn(sets, known))
    throw fail('tool-unknown-here', { where: `the rule ${rule.place}`, tool: name, fix: hintFor(name, known) })
}

/** For rule files, which agents with other tools may share. */
export const warningsOfRules = (sets: readonly RuleSet[], known: readonly string[]): readonly string[] =>
  unknownIn(sets, known).map(
    ({ rule, name }) =>
      `the rule ${rule.place} names the tool "${name}", which this runtime does not have; ${hintFor(name, known)}`,
  )

/** Patterns with a wildcard are not checked. */
const unknownIn = (
  sets: readonly RuleSet[],
  known: readonly string[],
): readonly { readonly rule: Rule; readonly name: string }[] =>
  sets.flatMap(({ rules }) =>
    rules.flatMap((rule) =>
      rule.tools.flatMap(({ isLiteral, runs: [name = ''] }) =>
        isLiteral && !known.includes(name) ? [{ rule, name }] : [],
      ),
    ),
  )

/** A tool that misses a variable may fail far away from the reason. */
export const warningsOfVariables = (
  tools: readonly BoundTool[],
  { environment }: Pick<CordonOptions, 'environment'>,
): readonly string[] =>
  tools
    .filter(({ definition }) => TOOL_KINDS[definition.kind].startsProcess)
    .flatMap(({ definition, gate }) =>
      unsetVariables(gate.boundary, environment ?? {}).map(
        (name) =>
          `the policy of the tool "${definition.name}" passes on ${name}, which is not set, so the tool does not get it; ` +
          (environment === undefined
            ? 'give createCordon the variables: environment: process.env'
            : `set it: environment: { ${name}: "…" }`),
      ),
    )
