import type { Boundary } from './boundary.js'
import type { ToolPolicy } from './model.js'
import type { Places } from './glob/path-pattern.js'
import { resolvePolicy } from './resolve/resolve-policy.js'

const STANCE_SECTIONS = ['read', 'write', 'network', 'environment', 'exec'] as const
export type StanceSection = (typeof STANCE_SECTIONS)[number]

/**
 * The policy of a tool that runs in the agent's own process, where no sandbox enforces it. The gate compares arguments
 * with the sections that it has.
 */
export interface Stance {
  /** A section in `noStance` is empty here, which has no meaning. */
  readonly boundary: Boundary
  readonly noStance: readonly StanceSection[]
}

export const resolveStance = (policy: ToolPolicy, places: Places): Stance => {
  const boundary = resolvePolicy(policy, { ...places, kind: 'function' })
  const noStance = undeclaredSections(policy, boundary)
  // A function that declares nothing about its changes may change anything, so its risk is not low.
  const isOpen = (['write', 'network', 'exec'] as const).some((name) => noStance.includes(name))
  const risk = boundary.risk.derived && isOpen ? ({ level: 'unknown', derived: true } as const) : boundary.risk
  return { boundary: { ...boundary, risk }, noStance }
}

/** The sections that a policy omits: neither "none" nor a list. The argument gate does not use them. */
export const undeclaredSections = (policy: ToolPolicy, boundary: Boundary): readonly StanceSection[] => {
  const sections = { ...policy.filesystem, network: policy.network, environment: policy.environment, exec: policy.exec }
  // A preset that grants writing declares `write`.
  return STANCE_SECTIONS.filter(
    (name) => sections[name].kind === 'unspecified' && !(name === 'write' && boundary.write.length > 0),
  )
}
