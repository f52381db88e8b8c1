// Findings about one MCP server: what is started or called, its pin, what it may ask for, and the grants of its cell.
import { parseTextPattern } from '../../gate/index.js'

import type { ManifestServer, ManifestTool } from '../manifest.js'
import type { PolicyReader } from './compare-policies.js'
import type { Finding, Owner } from './finding.js'
import { makeFinding } from './finding.js'
import { policyFindings } from './policy-findings.js'
import type { Change } from './policy-findings.js'
import { namedPart, say, words } from './sentence.js'
import type { Sentence } from './sentence.js'
import { loosenedConstraint, rightsOf, wordText } from './tool-findings.js'

export const serverAdded = (server: ManifestServer, owner: Owner, policies: PolicyReader): Finding =>
  makeFinding('mcp.server.added', owner, {
    sentence: say`The MCP server ${namedPart(server.name)} is new: ${addressOf(server)}, with ${words(toolCount(server))}`,
    change: [
      identityOf(server),
      server.allow ?? [],
      server.publish ?? null,
      server.pin,
      policies.read(server.policy).text,
      server.tools.map((tool) => [tool.name, rightsOf(tool, policies)]),
    ],
  })

export const serverFindings = (
  { before, after }: Change<ManifestServer>,
  owner: Owner,
  policies: PolicyReader,
): readonly Finding[] => {
  const subject = say`The MCP server ${namedPart(after.name)}`
  const cellOf = ({ policy }: ManifestServer) => ({ kind: 'process', policy }) as const
  return [
    ...clientFindings({ before, after }, owner, subject),
    ...orderFindings({ before: before.tools, after: after.tools }, owner, subject, policies),
    ...pinFindings({ before: before.pin, after: after.pin }, owner, subject),
    ...policyFindings({ before: cellOf(before), after: cellOf(after) }, owner, subject, policies),
  ]
}

/** Which server it is, and what its client does for it. */
function* clientFindings(
  { before, after }: Change<ManifestServer>,
  owner: Owner,
  subject: Sentence,
): Generator<Finding> {
  const [past, present] = [identityOf(before), identityOf(after)]
  if (past !== present)
    yield makeFinding('mcp.server.added', owner, {
      sentence: say`${subject} is now another one: ${addressOf(after)}, was ${addressOf(before)}`,
      change: [past, present],
    })
  for (const feature of after.allow ?? [])
    if (before.allow?.includes(feature) !== true)
      yield loosenedConstraint(owner, say`${subject} may now ask its client for ${feature}`, ['allow', feature])
  const { publish } = after
  if (publish !== undefined && publish !== before.publish) {
    const sentence = say`${subject} now serves HTTP at ${publish}, was ${before.publish ?? 'over stdio'}`
    yield loosenedConstraint(owner, sentence, ['publish', before.publish ?? null, publish])
  }
}

/** The first pattern that fits a name counts. So a pattern may get names from one that was before it. */
function* orderFindings(
  { before, after }: Change<readonly ManifestTool[]>,
  owner: Owner,
  subject: Sentence,
  policies: PolicyReader,
): Generator<Finding> {
  const namesOf = (tools: readonly ManifestTool[], others: readonly ManifestTool[]) =>
    tools.flatMap(({ name }) => (others.some((other) => other.name === name) ? [name] : []))
  const [past, present] = [namesOf(before, after), namesOf(after, before)]
  if (JSON.stringify(past) !== JSON.stringify(present)) {
    const sentence = say`${subject} has its tools in another order: ${present.join(', ')}, was ${past.join(', ')}`
    yield loosenedConstraint(owner, sentence, ['order', past, present])
    return
  }
  for (const tool of before.filter(({ name }) => !after.some((other) => other.name === name))) {
    const later = before.slice(before.indexOf(tool) + 1).map(({ name }) => name)
    for (const heir of after.filter(({ name }) => later.includes(name) && mayFit(name, tool.name))) {
      if (policies.beyond(heir, tool).length === 0) continue
      const sentence = say`${subject} has no entry ${namedPart(tool.name)} any more, so ${namedPart(heir.name)} counts`
      const rights = [rightsOf(tool, policies), rightsOf(heir, policies)]
      yield loosenedConstraint(owner, sentence, ['heir', tool.name, heir.name, ...rights])
    }
  }
}

function* pinFindings({ before, after }: Change<string | null>, owner: Owner, subject: Sentence): Generator<Finding> {
  if (before === null || before === after) return
  yield makeFinding('mcp.pin.changed', owner, {
    sentence:
      after === null
        ? say`${subject} is no longer pinned, was ${before}`
        : say`${subject} has the pin ${after}, was ${before}`,
    change: [before, after],
  })
}

/** Two patterns may have names in common that nobody sees here. */
const mayFit = (pattern: string, name: string): boolean => {
  const { isLiteral, matches } = parseTextPattern(pattern)
  return matches(name) || (!isLiteral && !parseTextPattern(name).isLiteral)
}

/** Its command or its URL, for people. */
const addressOf = ({ command, url, cwd }: ManifestServer): string => {
  const address = url ?? (command === undefined ? 'unknown' : command.map(wordText).join(' '))
  return cwd === undefined ? address : `${address} (in ${cwd})`
}

/** What is started or called, word by word. */
export const identityOf = ({ command, url, cwd }: ManifestServer): string =>
  JSON.stringify([url ?? null, command ?? null, cwd ?? '.'])

const toolCount = ({ tools }: ManifestServer): string =>
  tools.length === 1 ? '1 tool' : `${String(tools.length)} tools`
