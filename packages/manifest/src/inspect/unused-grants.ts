// Grants that the code of a tool does not use, as far as it could be followed.
import { lackingIn } from '../analysis/index.js'
import type { AnalysedTool } from '../analysis/index.js'
import type { Manifest, ManifestTool } from 'cordon/manifest'
import { parsePolicy } from 'cordon/policy'
import type { Places, ToolPolicy } from 'cordon/policy'

import { unfollowed } from '../project/project-code.js'

export interface UnusedGrant {
  readonly agent: string
  readonly tool: string
  readonly section: Section
  readonly entry: string
}

type Section = 'read' | 'write' | 'network' | 'environment' | 'exec'

/** `code`: the tools in the text of the project. */
export const unusedGrants = (
  { agents }: Manifest,
  code: readonly AnalysedTool[],
  places: Places,
): readonly UnusedGrant[] =>
  agents.flatMap(({ name: agent, tools }) =>
    tools.flatMap((tool) => {
      const [found, ...others] = code.filter(({ site }) => site.name === tool.name)
      // Two tools of one name: which one this is cannot be told.
      if (found === undefined || others.length > 0 || !isFollowed(found, tool)) return []
      return unusedOf(tool, found, places).map((grant) => ({ agent, tool: tool.name, ...grant }))
    }),
  )

const isFollowed = (found: AnalysedTool, { kind }: ManifestTool): boolean =>
  kind === 'function' &&
  found.site.kind === 'function' &&
  found.site.start !== undefined &&
  unfollowed(found).length === 0

const NOTHING = parsePolicy({}, 'policy')

const unusedOf = (
  tool: ManifestTool,
  found: AnalysedTool,
  places: Places,
): readonly Pick<UnusedGrant, 'section' | 'entry'>[] => {
  const needs = lackingIn(NOTHING, found, places)
  return entriesOf(parsePolicy(tool.policy, tool.name)).filter(({ section, only }) => {
    const ofSection = needs.filter(
      ({ grant }) => grant.section === section || (section === 'write' && grant.section === 'read'),
    )
    // A use that is only known when the tool runs may need each entry.
    if (ofSection.some(({ grant }) => grant.entry === undefined)) return false
    const lacking = new Set(lackingIn(only, found, places).map(({ use }) => use))
    return ofSection.every(({ use }) => lacking.has(use))
  })
}

/** Each grant as a policy of its own. Denials and carve-outs grant nothing. */
const entriesOf = (
  policy: ToolPolicy,
): readonly { readonly section: Section; readonly entry: string; readonly only: ToolPolicy }[] => {
  const { filesystem, network, environment, exec } = policy
  const list = <Item>(item: Item) => ({ kind: 'list', items: [item] }) as const
  return [
    ...(['read', 'write'] as const).flatMap((section) => {
      const given = filesystem[section]
      return (given.kind === 'list' ? given.items : [])
        .filter(({ negated }) => !negated)
        .map((glob) => ({
          section,
          entry: glob.text,
          only: { ...NOTHING, filesystem: { ...NOTHING.filesystem, [section]: list(glob) } },
        }))
    }),
    ...(network.kind === 'list' ? network.items : [])
      .filter(({ action }) => action !== 'deny')
      .map((grant) => ({ section: 'network', entry: grant.text, only: { ...NOTHING, network: list(grant) } }) as const),
    ...(environment.kind === 'list' ? environment.items : []).map(
      (entry) =>
        ({ section: 'environment', entry: entry.name, only: { ...NOTHING, environment: list(entry) } }) as const,
    ),
    ...(exec.kind === 'list' ? exec.items : []).map(
      (program) =>
        ({
          section: 'exec',
          entry: program.kind === 'name' ? program.name : program.glob.text,
          only: { ...NOTHING, exec: list(program) },
        }) as const,
    ),
  ]
}
