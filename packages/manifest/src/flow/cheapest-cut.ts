// The cheapest single change after which an agent has no path. If there is none, all its sinks have to ask.
import { removals, tagsFor } from './changes.js'
import type { Candidate, Cut } from './changes.js'
import type { Flow } from './flow.js'
import { hasPath, rolesFor } from './flow.js'
import type { Part } from './part.js'
import type { Tags } from './tags.js'

export interface CutQuestion {
  readonly agent: string
  readonly parts: readonly Part[]
  readonly tags: Tags
  readonly flow: Flow
}

export const cheapestCut = (question: CutQuestion): Cut => {
  const { agent, parts, tags, flow } = question
  const roles = rolesFor(tags)
  const holds = (candidate: Candidate): boolean =>
    'tags' in candidate
      ? hasPath(agent, parts, rolesFor(candidate.tags))
      : hasPath(
          agent,
          parts.map((part) => candidate.changed.get(part) ?? part),
          roles,
        )
  const single = candidates(flow, tags).find((candidate) => !holds(candidate))
  if (single !== undefined) return single.cut
  const all = flow.sinks.map(({ part }) => part)
  // A sink that hands its data to another one of the same agent mostly needs no question of its own.
  const last = flow.sinks.filter(({ onward }) => !onward.some((part) => all.includes(part))).map(({ part }) => part)
  return holds(asking(last)) ? asking(all).cut : asking(last).cut
}

const asking = (parts: readonly Part[]): Candidate => ({
  cut: { kind: 'ask', parts },
  changed: new Map(parts.map((part) => [part, { ...part, calls: 'ask' }])),
})

/** A change of one part only helps if no other part has its role. A tag must help all parts, so also the first one. */
const candidates = ({ private: reads, untrusted: brings, sinks }: Flow, tags: Tags): readonly Candidate[] => {
  const lastSinks = sinks.filter(({ part }) =>
    sinks.every((other) => other.part === part || other.onward.includes(part)),
  )
  const alone = [reads, brings].flatMap((held) => (held.length === 1 ? held : []))
  const changeable = [...new Set([...lastSinks, ...alone].map(({ part }) => part))]
  return [
    ...lastSinks.map(({ part }) => asking([part])),
    ...changeable.flatMap((part) => (part.kind === 'in-process' ? [isolation(part)] : [])),
    ...changeable.flatMap((part) => (part.kind === 'in-process' ? [] : removals(part))),
    ...tagsFor(
      { sender: sinks[0]?.onward.at(-1) ?? sinks[0]?.part, reader: reads[0]?.part, bringer: brings[0]?.part },
      tags,
    ),
  ]
}

const isolation = (part: Part): Candidate => ({
  cut: { kind: 'isolate', part },
  changed: new Map([[part, { ...part, kind: 'function' }]]),
})
