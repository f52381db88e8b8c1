// Agents that can be made to send private data: one of their tools reads it, one returns text that somebody else wrote,
// and one sends without an approval.
import type { ManifestContent } from 'cordon/manifest'

import { cheapestCut } from './cheapest-cut.js'
import type { Cut } from './changes.js'
import type { Flow, PartInRole } from './flow.js'
import { flowsOf, rolesFor } from './flow.js'
import type { OpenSink } from './open-sinks.js'
import { allParts } from './part.js'
import type { Part } from './part.js'
import { readTags } from './tags.js'
import type { Tags } from './tags.js'

export interface FoundPath {
  readonly agent: string
  readonly source: string | undefined
  /** The fewest tools and servers that suffice. */
  readonly path: ExfiltrationPath
  /** Every tool and server with a part in some path. A set that grew makes the agent worse. */
  readonly flow: Flow
}

export interface Exfiltration extends FoundPath {
  readonly cut: Cut
}

export interface ExfiltrationPath {
  readonly private: PartInRole
  readonly untrusted: PartInRole
  readonly sink: OpenSink
  /** Each once. */
  readonly parts: readonly Part[]
}

/** At most one for each agent, with its cheapest cut. */
export const exfiltrations = (manifest: ManifestContent): readonly Exfiltration[] => {
  const [parts, tags] = [allParts(manifest), readTags(manifest.tags)]
  return pathsAmong(manifest, parts, tags).map((found) => ({
    ...found,
    cut: cheapestCut({ agent: found.agent, parts, tags, flow: found.flow }),
  }))
}

/** Without cuts, which take longer to find than the paths. */
export const exfiltrationPaths = (manifest: ManifestContent): readonly FoundPath[] =>
  pathsAmong(manifest, allParts(manifest), readTags(manifest.tags))

const pathsAmong = ({ agents }: ManifestContent, parts: readonly Part[], tags: Tags): readonly FoundPath[] => {
  const flowOf = flowsOf(parts, rolesFor(tags))
  return agents.flatMap(({ name, source }) => {
    const flow = flowOf(name)
    const path = smallestPath(flow)
    return path === undefined ? [] : [{ agent: name, source, path, flow }]
  })
}

const smallestPath = (flow: Flow): ExfiltrationPath | undefined => {
  let best: ExfiltrationPath | undefined
  // Only the roles of a part matter, so one part of each combination suffices.
  const among = (held: readonly PartInRole[]): ReadonlySet<Part> => new Set(held.map(({ part }) => part))
  const [reading, bringing] = [among(flow.private), among(flow.untrusted)]
  const onward = new Map(flow.sinks.map((sink) => [sink.part, sink.onward.length]))
  const roles = (part: Part): string =>
    JSON.stringify([reading.has(part), bringing.has(part), onward.get(part) ?? null])
  const firsts = <Each extends { readonly part: Part }>(held: readonly Each[]): readonly Each[] => [
    ...new Map(held.toReversed().map((each) => [roles(each.part), each])).values(),
  ]
  for (const sink of firsts(flow.sinks)) {
    for (const reads of firsts(flow.private)) {
      for (const brings of firsts(flow.untrusted)) {
        const parts = [...new Set([reads.part, brings.part, sink.part, ...sink.onward])]
        if (best === undefined || isBefore(parts, best.parts)) best = { private: reads, untrusted: brings, sink, parts }
      }
    }
  }
  return best
}

const isBefore = (one: readonly Part[], other: readonly Part[]): boolean => {
  if (one.length !== other.length) return one.length < other.length
  const [text, otherText] = [one, other].map((parts) => JSON.stringify(parts.map(({ name }) => name)))
  return (text ?? '') < (otherText ?? '')
}
