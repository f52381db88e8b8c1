// The profile of a call that no cell confines.
import type { UnconfinedProfile } from '../../sandbox/index.js'

import type { BoundTool } from '../tools/bound-tool.js'

const UNHELD = ['filesystem_read', 'filesystem_write', 'network', 'environment', 'exec'] as const

/** The tool can do whatever the user of the agent's process may do. `ended`: what ends a call at each of its limits. */
export const profileWithoutCell = (
  { gate: { argumentGate, boundary }, cwd }: Pick<BoundTool, 'gate' | 'cwd'>,
  backend: UnconfinedProfile['backend'],
  ended: Readonly<Partial<Record<'wall' | 'output', string>>>,
): UnconfinedProfile => {
  const limits = (['wall', 'output'] as const).flatMap((name) => {
    const [limit, mechanism] = [boundary.limits[name], ended[name]]
    return limit === undefined || mechanism === undefined ? [] : [{ name, limit, mechanism }]
  })
  return {
    mode: 'none',
    backend,
    cwd,
    read_roots: ['/'],
    write_roots: ['/'],
    network: 'all',
    environment_ref: ['*'],
    process_limits: Object.fromEntries(limits.map(({ name, limit }) => [name, limit])),
    violation_refs: [],
    enforced: {
      arguments: argumentGate === 'enforced' ? ['argument-gate'] : [],
      ...Object.fromEntries(UNHELD.map((boundaryName) => [boundaryName, []])),
      ...Object.fromEntries(limits.map(({ name, mechanism }) => [`limits.${name}`, [mechanism]])),
    },
  }
}
