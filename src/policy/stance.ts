import type { Boundary } from './boundary.js'
import type { ToolPolicy } from './model.js'
import type { Places } from './glob/path-pattern.js'
import { resolvePolicy } from './resolve/resolve-policy.js'

export const STANCE_SECTIONS = ['read', 'write', 'network', 'environment', 'exec'] as const
export type StanceSection = (typeof STANCE_SECTIONS)[number]

/**
 * The policy of a tool that runs in the agent's own process, where no boundary holds it. It is a
 * statement to compare arguments with, and only about the sections that it has.
 */
export interface Stance {
  /** What is stated. A section in `noStance` is empty here, which means nothing. */
  readonly boundary: Boundary
  readonly noStance: readonly StanceSection[]
}

export const resolveStance = (policy: ToolPolicy, places: Places): Stance => {
  const boundary = resolvePolicy(policy, { ...places, kind: 'function' })
  const noStance = undeclaredSections(policy, boundary)
  // A function that says nothing about what it changes may change anything: that is not a low risk.
  const isOpen = (['write', 'network', 'exec'] as const).some((name) => noStance.includes(name))
  const risk = boundary.risk.derived && isOpen ? ({ level: 'unknown', derived: true } as const) : boundary.risk
  return { boundary: { ...boundary, risk }, noStance }
}

/** The sections on which a policy says nothing, neither "none" nor a list. The argument gate judges by none of them. */
export const undeclaredSections = (policy: ToolPolicy, boundary: Boundary): readonly StanceSection[] => {
  const sections = { ...policy.filesystem, network: policy.network, environment: policy.environment, exec: policy.exec }
  return STANCE_SECTIONS.filter((name) => sections[name].kind === 'unspecified' && !isGivenByPreset(name, boundary))
}

/** A preset that grants writing is a stance on writing. */
const isGivenByPreset = (name: StanceSection, boundary: Boundary): boolean =>
  name === 'write' && boundary.write.length > 0
