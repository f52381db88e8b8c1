// Findings about one MCP server: what is started or called, its pin, what it may ask for, and the grants of its cell.
import { parseTextPattern } from '../../gate/index.js'

import type { ManifestServer, ManifestTool } from '../manifest.js'
import type { PolicyReader } from './compare-policies.js'
import type { Finding, Owner } from './finding.js'
import { makeFinding } from './make-finding.js'
import { policyFindings } from './policy-findings.js'
import type { Change } from './policy-findings.js'
import { named, say, words } from './sentence.js'
import type { Sentence } from './sentence.js'
import { wordText } from './program-findings.js'
import { rightsOf } from './tool-findings.js'

export const serverAdded = (server: ManifestServer, owner: Owner, policies: PolicyReader): Finding =>
  makeFinding('mcp.server.added', owner, {
    sentence: say`The MCP server ${named(server.name)} is new: ${addressOf(server)}, with ${words(toolCount(server))}`,
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
  const subject = say`The MCP server ${named(after.name)}`
  const [past, present] = [identityOf(before), identityOf(after)]
  return [
    ...(past === present
      ? []
      : [
          makeFinding('mcp.server.added', owner, {
            sentence: say`${subject} is now another one: ${addressOf(after)}, was ${addressOf(before)}`,
            change: [past, present],
          }),
        ]),
    ...clientFindings({ before, after }, owner, subject),
    ...orderFindings({ before: before.tools, after: after.tools }, owner, subject, policies),
    ...(before.pin === null || before.pin === after.pin
      ? []
      : [
          makeFinding('mcp.pin.changed', owner, {
            sentence:
              after.pin === null
                ? say`${subject} is no longer pinned, was ${before.pin}`
                : say`${subject} has the pin ${after.pin}, was ${before.pin}`,
            change: [before.pin, after.pin],
          }),
        ]),
    ...policyFindings(
      { before: { kind: 'process', policy: before.policy }, after: { kind: 'process', policy: after.policy } },
      owner,
      subject,
      policies,
    ),
  ]
}

const clientFindings = (
  { before, after }: Change<ManifestServer>,
  owner: Owner,
  subject: Sentence,
): readonly Finding[] => {
  const asked = (after.allow ?? []).filter((feature) => before.allow?.includes(feature) !== true)
  const { publish } = after
  return [
    ...asked.map((feature) =>
      makeFinding('tool.constraint.loosened', owner, {
        sentence: say`${subject} may now ask its client for ${feature}`,
        change: ['allow', feature],
      }),
    ),
    ...(publish === undefined || publish === before.publish
      ? []
      : [
          makeFinding('tool.constraint.loosened', owner, {
            sentence: say`${subject} now serves HTTP at ${publish}, was ${before.publish ?? 'over stdio'}`,
            change: ['publish', before.publish ?? null, publish],
          }),
        ]),
  ]
}

/** The first pattern that fits a name counts. So a pattern may get names from one that was before it. */
const orderFindings = (
  { before, after }: Change<readonly ManifestTool[]>,
  owner: Owner,
  subject: Sentence,
  policies: PolicyReader,
): readonly Finding[] => {
  const namesOf = (tools: readonly ManifestTool[], others: readonly ManifestTool[]) =>
    tools.flatMap(({ name }) => (others.some((other) => other.name === name) ? [name] : []))
  const [past, present] = [namesOf(before, after), namesOf(after, before)]
  if (JSON.stringify(past) !== JSON.stringify(present))
    return [
      makeFinding('tool.constraint.loosened', owner, {
        sentence: say`${subject} has its tools in another order: ${present.join(', ')}, was ${past.join(', ')}`,
        change: ['order', past, present],
      }),
    ]
  const gone = before.filter(({ name }) => !after.some((tool) => tool.name === name))
  return gone.flatMap((tool) => {
    const later = before.slice(before.indexOf(tool) + 1).map(({ name }) => name)
    const heirs = after.filter((heir) => later.includes(heir.name) && mayFit(heir.name, tool.name))
    return heirs
      .filter((heir) => policies.beyond(heir, tool).length > 0)
      .map((heir) =>
        makeFinding('tool.constraint.loosened', owner, {
          sentence: say`${subject} has no entry ${named(tool.name)} any more, so ${named(heir.name)} counts`,
          change: ['heir', tool.name, heir.name, rightsOf(tool, policies), rightsOf(heir, policies)],
        }),
      )
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
