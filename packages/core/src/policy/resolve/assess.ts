// The egress class and the risk of a policy, derived where its author omitted them.
import type { Boundary } from '../boundary.js'
import type { HostGrant } from '../network/host-grant.js'
import type { Assessed, EgressClass, Risk, ToolPolicy } from '../model.js'
import { SAFE_METHODS } from '../model.js'

export const assessEgressClass = ({
  egressClass,
  network,
}: Pick<ToolPolicy, 'egressClass' | 'network'>): Assessed<EgressClass> =>
  egressClass.kind === 'declared'
    ? { level: egressClass.level, derived: false }
    : { level: classOf(network), derived: true }

const classOf = (network: ToolPolicy['network']): EgressClass => {
  switch (network.kind) {
    case 'unspecified':
    case 'none':
      return 'none'
    case 'all':
      return 'write'
    case 'list': {
      const grants = network.items.filter(({ action }) => action !== 'deny')
      if (grants.length === 0) return 'none'
      return grants.every(onlyReads) ? 'read_only' : 'write'
    }
  }
}

const onlyReads = ({ action, methods }: HostGrant): boolean =>
  action === 'allow' && methods.kind === 'list' && methods.items.every((method) => SAFE_METHODS.includes(method))

/** As high as the effects that the boundary permits. Only people declare `critical` and `unknown`. */
export const assessRisk = (
  { risk }: Pick<ToolPolicy, 'risk'>,
  boundary: Pick<Boundary, 'write' | 'network' | 'egressClass' | 'exec'>,
): Assessed<Risk> => {
  if (risk.kind === 'declared') return { level: risk.level, derived: false }
  const { write, network, egressClass, exec } = boundary
  const egress = network.kind === 'none' ? 'none' : egressClass.level
  if (egress === 'write' || (egress !== 'none' && exec.kind === 'all')) return { level: 'high', derived: true }
  const changesFiles = write.some(({ negated }) => !negated)
  return { level: changesFiles || egress !== 'none' ? 'medium' : 'low', derived: true }
}
