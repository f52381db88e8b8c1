import type { FoundPath } from './exfiltration.js'
import type { Flow } from './flow.js'

/**
 * Whether an agent got a path, or one of its three sets of tools got another tool. `before`: its path in the baseline.
 * `presentName`: the name that a tool of the baseline has now.
 */
export const isNewOrGrown = (
  before: FoundPath | undefined,
  after: FoundPath,
  presentName: (name: string) => string,
): boolean => {
  if (before === undefined) return true
  const grew = (role: keyof Flow): boolean => {
    const known = new Set(before.flow[role].map(({ part }) => `${part.is} ${presentName(part.name)}`))
    return after.flow[role].some(({ part }) => !known.has(`${part.is} ${part.name}`))
  }
  return grew('private') || grew('untrusted') || grew('sinks')
}
