import type { DecisionSource } from './decision-kinds.js'
import type { Draft } from '../draft.js'

/** Changes that would let a call run without a question. */
export const waysToAllow = ({ rules, call }: Draft, source: DecisionSource): readonly string[] => {
  switch (source) {
    case 'rule':
      return rules.deciding.slice(0, 3).map(({ id }) => `change or remove the rule ${id}`)
    case 'hook':
      return ['see why the hook asks']
    case 'policy':
      return call.waysToApprove ?? ['approve it, once or for this session']
    default:
      return (
        call.waysToAllow ?? [
          `add a rule that allows the tool ${call.tool}, best with a condition`,
          'choose another mode',
        ]
      )
  }
}

/** Changes that would stop a call that may run. */
export const waysToStop = ({ rules, call }: Draft, source: DecisionSource): readonly string[] => {
  const deny = `add a rule that denies the tool ${call.tool}, or asks about it`
  return source === 'rule' ? [...rules.deciding.slice(0, 3).map(({ id }) => `remove the rule ${id}`), deny] : [deny]
}
