import { fail } from '../../errors/index.js'
import { describeValue, invalid, itemsOf, mappingOf, parsePolicy, sourceOf, nodeText } from '../../policy/index.js'
import type { Places, PolicyNode } from '../../policy/index.js'

import { createArgumentGate } from '../arguments/argument-gate.js'
import { factsOf } from '../call-facts.js'
import type { RuleFacts } from '../call-facts.js'
import { takeSnapshot } from '../input/json-value.js'
import { matcherOf } from './conditions.js'
import { resolveByText } from '../arguments/resolve-path.js'
import type { Rule } from './rule.js'
import { describeTool } from '../tool.js'

/**
 * Examples are calls that a rule must match, and calls that it must not. Loading a rule tries them, to find a pattern
 * that means something else than its author thinks.
 */
export const checkExamples = (rule: Rule, examples: PolicyNode, places: Places): void => {
  const matches = matcherOf(rule)
  const { match, not_match: notMatch } = mappingOf(examples, ['match', 'not_match'])
  for (const [node, expected] of [
    [match, true],
    [notMatch, false],
  ] as const) {
    for (const example of node === undefined ? [] : itemsOf(node, 'a list of examples')) {
      if (matches(factsOfExample(example, rule, places)) === expected) continue
      throw fail('rule-example-fails', {
        source: sourceOf(example),
        example: JSON.stringify(example.value),
        problem: expected ? 'it should match, and does not' : 'it should not match, and does',
      })
    }
  }
}

const factsOfExample = (node: PolicyNode, rule: Rule, places: Places): RuleFacts => {
  // A text means a call of the rule's own tool with that command.
  if (typeof node.value === 'string') return imagine(toolOf(rule), { command: node.value }, places, node)
  const { tool, input } = mappingOf(node, ['tool', 'input'])
  const name = tool === undefined ? toolOf(rule) : nodeText(tool, 'a tool name')
  return imagine(name, input === undefined ? {} : input.value, places, node)
}

const toolOf = ({ tools }: Rule): string => tools.find(({ isLiteral }) => isLiteral)?.runs[0] ?? 'example'

/** The facts of such a call of a tool that may do everything. */
const imagine = (name: string, input: unknown, places: Places, node: PolicyNode): RuleFacts => {
  const snapshot = takeSnapshot(input)
  if (snapshot.kind === 'problem')
    throw invalid(node, `an example of plain JSON, but ${snapshot.where} ${snapshot.problem}, ${describeValue(input)}`)
  const tool = describeTool({ name, kind: 'in-process', policy: parsePolicy({}, 'an example'), ...places })
  // In an example every text with a slash is a path.
  const gated = createArgumentGate(tool, (path) => {
    const resolved = resolveByText(path)
    return resolved.kind === 'unknown' ? resolved : { ...resolved, parentExists: true }
  })(snapshot.value)
  if (gated.kind === 'denied') throw invalid(node, `an example that can be read: ${gated.denial.message}`)
  return factsOf({ tool, input: snapshot.value, paths: gated.paths, urls: gated.urls, argv: undefined })
}
