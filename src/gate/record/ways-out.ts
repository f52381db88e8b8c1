import type { DecisionSource } from './decision-kinds.js'
import type { Draft } from '../draft.js'

/** What would let a call run that is asked about. */
export const waysToAllow = ({ rules, call }: Draft, source: DecisionSource): readonly string[] => {
  switch (source) {
    case 'rule':
      return rules.deciding.slice(0, 3).map(({ id }) => `change or remove the rule ${id}`)
    case 'hook':
      return ['see why the hook asks']
    case 'policy':
      return call.waysToApprove ?? ['approve it, once or for this session']
    case 'registry':
    case 'schema':
    case 'constraint':
    case 'mode':
    case 'classifier':
    case 'approver':
    case 'command':
      return (
        call.waysToAllow ?? [
          `add a rule that allows the tool ${call.tool}, best with a condition`,
          'choose another mode',
        ]
      )
  }
}

/** What would stop a call that runs. */
export const waysToStop = ({ rules, call }: Draft, source: DecisionSource): readonly string[] => {
  const deny = `add a rule that denies the tool ${call.tool}, or asks about it`
  return source === 'rule' ? [...rules.deciding.slice(0, 3).map(({ id }) => `remove the rule ${id}`), deny] : [deny]
}
