// What a project newly allows, compared with a baseline.
import { createPolicyReader, emptyAgent, FINDING_IDS, makeFinding, say, SEVERITIES, words } from 'cordon/manifest'
import type { Change, Finding, Manifest, ManifestAgent, ManifestContent } from 'cordon/manifest'
import { agentFindings } from './agent-findings.js'
import { flowFindings } from './flow-findings.js'
import { pairUp } from './pair-up.js'
import type { Traits } from './pair-up.js'

export const compareManifests = (before: ManifestContent, after: ManifestContent): readonly Finding[] => {
  const policies = createPolicyReader()
  const { pairs, added } = pairUp(before.agents, after.agents, AGENT_TRAITS)
  const all = [...pairs, ...added.map((agent) => ({ before: newAgent(agent), after: agent }))]
  const ofAgents = all.flatMap((pair) => agentFindings(pair, policies))
  // What grants no more gives no new way for data, except by other tags.
  const isSilent = ofAgents.length === 0 && JSON.stringify(before.tags) === JSON.stringify(after.tags)
  const ofFlows = isSilent ? [] : flowFindings(before, after, pairs, policies)
  const findings = [...ofAgents, ...ofFlows, ...tagFindings({ before: before.tags, after: after.tags })]
  // Two things with the same name may say the same.
  return [...new Map(findings.map((finding) => [finding.fingerprint, finding])).values()].sort(bySeverity)
}

/** Agents have no code of their own, so they are recognised by their tools. */
const AGENT_TRAITS: Traits<ManifestAgent> = {
  same: [({ tools }) => (tools.length === 0 ? undefined : JSON.stringify(tools.map(({ name }) => name).sort()))],
  parts: ({ tools }) => tools.map(({ name }) => name),
}

/** Nothing to compare with, except the default mode. */
const newAgent = ({ name, workspace }: ManifestAgent): ManifestAgent => ({
  ...emptyAgent(name),
  ...(workspace === undefined ? {} : { workspace }),
})

const TAGS = ['public', 'trusted', 'own'] as const

/** A tag hides ways for data, so a new one is shown like a grant. */
const tagFindings = ({ before, after }: Change<Manifest['tags']>): readonly Finding[] =>
  TAGS.flatMap((tag) => [
    ...after[tag]
      .filter((text) => !isException(text) && !before[tag].includes(text))
      .map((text) =>
        makeFinding('tag.added', {}, { sentence: say`${text} is now tagged ${words(tag)}`, change: [tag, text] }),
      ),
    ...before[tag]
      .filter((text) => isException(text) && !after[tag].includes(text))
      .map((text) =>
        makeFinding(
          'tag.added',
          {},
          { sentence: say`${text} is no longer an exception of the tag ${words(tag)}`, change: [tag, text, 'gone'] },
        ),
      ),
  ])

const isException = (text: string): boolean => text.startsWith('!')

const bySeverity = (one: Finding, other: Finding): number =>
  SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity) ||
  compareTexts(placeOf(one), placeOf(other)) ||
  FINDING_IDS.indexOf(one.id) - FINDING_IDS.indexOf(other.id) ||
  compareTexts(one.fingerprint, other.fingerprint)

const placeOf = ({ agent = '', server = '', tool = '' }: Finding): string => JSON.stringify([agent, server, tool])
const compareTexts = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1)
