// Agents that can newly be made to send private data.
import { exfiltrationPaths } from '../flow/exfiltration.js'
import type { FoundPath } from '../flow/exfiltration.js'
import { exfiltrationSentence } from '../flow/exfiltration-text.js'
import { isNewOrGrown } from '../flow/grown-flow.js'
import type { Change, Finding, ManifestAgent, ManifestContent, PolicyReader } from 'cordon/manifest'

import { pairTools } from './agent-findings.js'
import { makeFinding } from 'cordon/manifest'

/** `agents`: those of both manifests that are the same, whatever their names. */
export const flowFindings = (
  before: ManifestContent,
  after: ManifestContent,
  agents: readonly Change<ManifestAgent>[],
  policies: PolicyReader,
): readonly Finding[] => {
  const present = exfiltrationPaths(after)
  if (present.length === 0) return []
  const known = new Map(exfiltrationPaths(before).map((found) => [found.agent, found]))
  return present.flatMap((found) => {
    const pair = agents.find((each) => each.after.name === found.agent)
    const former = pair === undefined ? undefined : known.get(pair.before.name)
    const { renamed } = pairTools({ before: pair?.before.tools ?? [], after: pair?.after.tools ?? [] }, policies)
    return isNewOrGrown(former, found, (name) => renamed.get(name) ?? name) ? [findingOf(found, former)] : []
  })
}

const findingOf = (found: FoundPath, former: FoundPath | undefined): Finding =>
  makeFinding(
    'flow.exfiltration',
    { agent: found.agent, ...(found.source === undefined ? {} : { source: found.source }) },
    {
      sentence: exfiltrationSentence(found),
      change: [former === undefined ? null : setsOf(former), setsOf(found)],
    },
  )

/** The names of the tools and servers in each role. */
const setsOf = ({ flow }: FoundPath): readonly (readonly string[])[] =>
  [flow.private, flow.untrusted, flow.sinks].map((held) => held.map(({ part }) => `${part.is} ${part.name}`).sort())
