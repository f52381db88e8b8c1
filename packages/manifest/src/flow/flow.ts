// The roles of all tools and servers of a manifest, each found once.
import { getOrAdd } from 'cordon/policy'

import type { OpenSink } from './open-sinks.js'
import { openSinks } from './open-sinks.js'
import type { Part } from './part.js'
import { privateBecause, sendsBecause, untrustedBecause } from './roles.js'
import type { Reason } from './roles.js'
import type { Tags } from './tags.js'

export interface PartInRole {
  readonly part: Part
  readonly because: Reason
}

/** The parts of one agent that have a role. */
export interface Flow {
  readonly private: readonly PartInRole[]
  readonly untrusted: readonly PartInRole[]
  readonly sinks: readonly OpenSink[]
}

type Role = (part: Part) => Reason | undefined

export interface Roles {
  readonly private: Role
  readonly untrusted: Role
  readonly sends: Role
}

export const rolesFor = (tags: Tags): Roles => {
  const once = (role: (part: Part, tags: Tags) => Reason | undefined): Role => {
    const known = new Map<Part, Reason | undefined>()
    return (part) => getOrAdd(known, part, () => role(part, tags))
  }
  return { private: once(privateBecause), untrusted: once(untrustedBecause), sends: once(sendsBecause) }
}

/** By agent. */
export const flowsOf = (parts: readonly Part[], roles: Roles): ((agent: string) => Flow) => {
  const sinks = openSinks(parts, roles.sends)
  return (agent) => {
    const ownSinks = sinks.filter(({ part }) => part.agent === agent)
    // Without a sink there is no path, and the other roles take longer to find.
    const own = ownSinks.length === 0 ? [] : parts.filter((part) => part.agent === agent)
    const holders = (role: Role): readonly PartInRole[] =>
      own.flatMap((part) => {
        const because = role(part)
        return because === undefined ? [] : [{ part, because }]
      })
    return {
      private: holders(roles.private),
      untrusted: holders(roles.untrusted),
      sinks: ownSinks,
    }
  }
}

/** Whether an agent has a path. The first tool with a role suffices, so this is faster than a whole flow. */
export const hasPath = (agent: string, parts: readonly Part[], roles: Roles): boolean => {
  const own = parts.filter((part) => part.agent === agent)
  const has = (role: Role) => own.some((part) => role(part) !== undefined)
  return (
    has(roles.private) &&
    has(roles.untrusted) &&
    (own.some((part) => part.calls === 'run' && roles.sends(part) !== undefined) ||
      openSinks(parts, roles.sends).some(({ part }) => part.agent === agent))
  )
}
