import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { countOf, flagOf, itemsOf, mappingOf, rootNode, textOf } from '../../policy/index.js'

import type { SessionCountState } from './session-count-state.js'
import { toolCountOf } from './session-count-state.js'

/** When and how often a tool may run within one session. An omitted limit is not set. */
export interface Constraints {
  readonly maxInvocations?: number
  /** All of these tools must have completed before. */
  readonly onlyAfter: readonly string[]
  /** For code of the host only. A model may not call it. */
  readonly forbidden: boolean
}

/** As people write it. */
export type ConstraintsInput = Partial<Constraints>

export const UNCONSTRAINED: Constraints = { onlyAfter: [], forbidden: false }

export const parseConstraints = (value: unknown, source: string): Constraints => {
  const node = rootNode(value, () => source, 'the constraints')
  const { maxInvocations, onlyAfter, forbidden } = mappingOf(node, ['maxInvocations', 'onlyAfter', 'forbidden'])
  return {
    ...(maxInvocations === undefined ? {} : { maxInvocations: countOf(maxInvocations) }),
    onlyAfter:
      onlyAfter === undefined
        ? []
        : [...new Set(itemsOf(onlyAfter, 'a list of tool names').map((item) => textOf(item, 'a tool name')))],
    forbidden: forbidden !== undefined && flagOf(forbidden),
  }
}

/** The denial of a call by the constraints of its tool, if any. */
export const constraintDenial = (
  tool: string,
  { forbidden, maxInvocations, onlyAfter }: Constraints,
  state: SessionCountState,
): CordonError | undefined => {
  if (forbidden) return fail('tool-forbidden', { tool })
  if (maxInvocations !== undefined && toolCountOf(state, tool).started >= maxInvocations)
    return fail('tool-exhausted', { tool, limit: maxInvocations })
  const missing = onlyAfter.filter((name) => toolCountOf(state, name).completed === 0)
  return missing.length === 0 ? undefined : fail('tool-too-early', { tool, missing: missing.join(', ') })
}
