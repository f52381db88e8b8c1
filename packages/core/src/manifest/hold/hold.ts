// Holds what runs against a manifest: each tool must be within what was reviewed.
import { parseTextPattern } from '../../gate/index.js'
import type { Places } from '../../policy/index.js'

import type { Manifest, ManifestServer, ManifestTool } from '../manifest.js'
import { createPolicyReader } from '../findings/compare-policies.js'
import type { Finding } from '../findings/finding.js'
import { policyFindings } from '../findings/policy-findings.js'
import { serverFindings } from '../findings/server-findings.js'
import { boundaryFindings } from '../findings/tool-findings.js'
import type { HeldTool } from '../findings/tool-findings.js'
import { sentenceText, words } from '../findings/sentence.js'

export interface Verdict {
  readonly verdict: 'within' | 'beyond'
  /** What is beyond the manifest, in sentences. */
  readonly differences: readonly string[]
}

/** With the file and the hash of the manifest. */
export interface ManifestVerdict extends Verdict {
  readonly name: string
  readonly hash: string
}

export interface Holder {
  readonly tool: (tool: HeldTool) => Verdict
  /** What is started, and the grants of its cell. `asListed`: the running server, in the form of a listed one. */
  readonly server: (name: string, asListed: (listed: ManifestServer) => HeldServer) => Verdict
  /** `name`: as its server calls it. `hasPolicy`: false for a tool that nobody gave any right. */
  readonly serverTool: (server: string, name: string, tool: HeldTool, hasPolicy: boolean) => Verdict
  /** The policy of one command, which must be within one policy of `cordon run`. */
  readonly run: (policy: HeldTool['policy']) => Verdict
}

/** Its tools are held one by one. */
export type HeldServer = Omit<ManifestServer, 'tools'>

const RUN_AGENT = 'cordon run'

/** `agent`: without one, a tool may be that of any agent of the manifest. */
export const createHolder = ({ agents }: Manifest, agent: string | undefined, places: Places): Holder => {
  const policies = createPolicyReader(places)
  const named = agents.filter(({ name }) => (agent === undefined ? name !== RUN_AGENT : name === agent))
  const servers = named.flatMap(({ mcp_servers: found }) => found)
  // A second server of a name has a number in the manifest.
  const serversNamed = (name: string) => servers.filter((server) => server.name.replace(/#\d+$/, '') === name)
  const compare = (tool: HeldTool, listed: readonly ManifestTool[], missing: string): Verdict =>
    nearest(
      listed.map((before) => {
        const owner = { tool: tool.name }
        return boundaryFindings({ before, after: tool }, { owner, policies, presentName: (name) => name })
      }),
      missing,
    )
  return {
    tool: (tool) => {
      if (agent !== undefined && named.length === 0) return beyond(`the manifest has no agent "${agent}"`)
      const listed = named.flatMap(({ tools }) => tools.filter(({ name }) => name === tool.name))
      return compare(tool, listed, 'the manifest does not list it')
    },
    server: (name, asListed) =>
      nearest(
        serversNamed(name).map((before) => {
          const after = { ...asListed(before), name: before.name, tools: before.tools }
          return serverFindings({ before, after }, {}, policies)
        }),
        'the manifest does not list it',
      ),
    serverTool: (server, name, tool, hasPolicy) => {
      const found = serversNamed(server)
      if (found.length === 0) return beyond(`the manifest does not list its server "${server}"`)
      if (!hasPolicy) return WITHIN
      // The first pattern that fits a name counts.
      const listed = found.flatMap(({ tools }) => tools.find((each) => parseTextPattern(each.name).matches(name)) ?? [])
      return compare(tool, listed, `the manifest has no policy for it at its server "${server}"`)
    },
    run: (policy) => {
      const listed = agents.filter(({ name }) => name === RUN_AGENT).flatMap(({ tools }) => tools)
      const after = { kind: 'process', policy } as const
      return nearest(
        listed.map((before) => policyFindings({ before, after }, {}, words('it'), policies)),
        `the manifest has no policy of \`${RUN_AGENT}\``,
      )
    },
  }
}

const WITHIN: Verdict = { verdict: 'within', differences: [] }
const beyond = (...differences: readonly string[]): Verdict => ({ verdict: 'beyond', differences })

/** Within one of them, or what is missing to the nearest. */
const nearest = (found: readonly (readonly Finding[])[], missing: string): Verdict => {
  const [first, ...others] = found
  if (first === undefined) return beyond(missing)
  const fewest = others.reduce((one, other) => (other.length < one.length ? other : one), first)
  return fewest.length === 0
    ? WITHIN
    : beyond(...fewest.flatMap(({ sentence, more }) => [sentence, ...more].map(sentenceText)))
}
