// Findings about one MCP server: what is started or called, its pin, and the grants of its cell.
import type { ManifestServer } from '../manifest.js'
import type { PolicyReader } from './compare-policies.js'
import type { Finding, Owner } from './finding.js'
import { makeFinding } from './make-finding.js'
import { policyFindings } from './policy-findings.js'
import type { Change } from './policy-findings.js'
import { named, say, words } from '../sentence.js'
import { rightsOf } from './tool-findings.js'

export const serverAdded = (server: ManifestServer, owner: Owner, policies: PolicyReader): Finding =>
  makeFinding('mcp.server.added', owner, {
    sentence: say`The MCP server ${named(server.name)} is new: ${addressOf(server)}, with ${words(toolCount(server))}`,
    change: [
      addressOf(server),
      server.pin,
      policies.read(server.policy).text,
      server.tools.map((tool) => [tool.name, rightsOf(tool, policies)]).sort(byText),
    ],
  })

export const serverFindings = (
  { before, after }: Change<ManifestServer>,
  owner: Owner,
  policies: PolicyReader,
): readonly Finding[] => {
  const subject = say`The MCP server ${named(after.name)}`
  const [past, present] = [addressOf(before), addressOf(after)]
  return [
    ...(past === present
      ? []
      : [
          makeFinding('mcp.server.added', owner, {
            sentence: say`${subject} is now another one: ${present}, was ${past}`,
            change: [past, present],
          }),
        ]),
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

/** Its command or its URL. */
export const addressOf = ({ command, url }: ManifestServer): string =>
  url ?? (command === undefined ? 'unknown' : command.join(' '))

const toolCount = ({ tools }: ManifestServer): string =>
  tools.length === 1 ? '1 tool' : `${String(tools.length)} tools`

const byText = (one: unknown, other: unknown): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)
