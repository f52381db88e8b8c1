import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { invalid, itemsOf, mappingOf, rootNode, textOf } from '../../policy/index.js'
import type { PolicyNode } from '../../policy/index.js'

import type { SessionCountState } from './session-count-state.js'
import { completedOf, startedOf } from './session-count-state.js'

/** When and how often a tool may run within one session. An absent limit is not set. */
export interface Constraints {
  readonly maxInvocations?: number
  /** Every one of these must have completed before. */
  readonly onlyAfter: readonly string[]
  /** There for code, never to be called by a model. */
  readonly forbidden: boolean
}

export const UNCONSTRAINED: Constraints = { onlyAfter: [], forbidden: false }

export const parseConstraints = (value: unknown, source: string): Constraints =>
  parseConstraintsNode(rootNode(value, () => source, 'the constraints'))

const parseConstraintsNode = (node: PolicyNode): Constraints => {
  const { maxInvocations, onlyAfter, forbidden } = mappingOf(node, ['maxInvocations', 'onlyAfter', 'forbidden'])
  return {
    ...(maxInvocations === undefined ? {} : { maxInvocations: parseCount(maxInvocations) }),
    onlyAfter:
      onlyAfter === undefined
        ? []
        : [...new Set(itemsOf(onlyAfter, 'a list of tool names').map((item) => textOf(item, 'a tool name')))],
    forbidden: forbidden === undefined ? false : parseFlag(forbidden),
  }
}

const parseCount = (node: PolicyNode): number => {
  const { value } = node
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw invalid(node, 'a whole number of at least 0')
  return value
}

const parseFlag = (node: PolicyNode): boolean => {
  if (typeof node.value !== 'boolean') throw invalid(node, 'true or false')
  return node.value
}

/** Why the constraints of a tool deny a call now, if they do. */
export const constraintDenial = (
  tool: string,
  { forbidden, maxInvocations, onlyAfter }: Constraints,
  state: SessionCountState,
): CordonError | undefined => {
  if (forbidden) return fail('tool-forbidden', { tool })
  if (maxInvocations !== undefined && startedOf(state, tool) >= maxInvocations)
    return fail('tool-exhausted', { tool, limit: maxInvocations })
  const missing = onlyAfter.filter((name) => completedOf(state, name) === 0)
  return missing.length === 0 ? undefined : fail('tool-too-early', { tool, missing: missing.join(', ') })
}
