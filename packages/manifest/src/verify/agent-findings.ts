// Findings about one agent: its tools, its MCP servers, its rules, its mode and its budget.
import type { Change, Finding, ManifestAgent, ManifestServer, ManifestTool, Owner, PolicyReader } from 'cordon/manifest'
import {
  identityOf,
  makeFinding,
  namedPart,
  say,
  serverAdded,
  serverFindings,
  toolAdded,
  toolFindings,
  words,
} from 'cordon/manifest'
import { modeFindings } from './mode-findings.js'
import { pairUp } from './pair-up.js'
import type { Traits } from './pair-up.js'
import { ruleFindings } from './rule-findings.js'
import { settingFindings } from './setting-findings.js'

export const agentFindings = (change: Change<ManifestAgent>, policies: PolicyReader): readonly Finding[] => {
  const { before, after } = change
  const owner: Owner = { agent: after.name, ...sourceOf(after) }
  const tools = compareTools({ before: before.tools, after: after.tools }, owner, policies)
  return [
    ...tools.findings,
    ...compareServers(change, owner, policies),
    ...ruleFindings({ before: before.rules, after: after.rules }, owner, tools.renamed),
    ...workspaceFindings(change, owner),
    ...settingFindings(change, owner),
    ...modeFindings({ before: before.mode, after: after.mode }, owner),
    ...budgetFindings(change, owner),
    ...credentialFindings(change, owner),
    ...dynamicFindings(change, owner),
  ]
}

/** The same policies mean other files there. */
const workspaceFindings = ({ before, after }: Change<ManifestAgent>, owner: Owner): readonly Finding[] => {
  const [past, present] = [before.workspace ?? '.', after.workspace ?? '.']
  return past === present
    ? []
    : [
        makeFinding('tool.filesystem.write.widened', owner, {
          sentence: say`Paths that begin with ./ are now in ${present}, were in ${past}, for all tools of ${namedPart(after.name)}`,
          change: ['workspace', past, present],
        }),
      ]
}

const sourceOf = ({ source }: { readonly source?: string | undefined }) => (source === undefined ? {} : { source })

/** Tools that are the same, whatever their names, new ones, and the new names of renamed ones. */
export const pairTools = (
  change: Change<readonly ManifestTool[]>,
  policies: PolicyReader,
): ReturnType<typeof pairUp<ManifestTool>> & { readonly renamed: ReadonlyMap<string, string> } => {
  const { pairs, added } = pairUp(change.before, change.after, toolTraits(policies))
  const renamed = new Map(
    pairs
      .filter(({ before, after }) => before.name !== after.name)
      .map(({ before, after }) => [before.name, after.name]),
  )
  return { pairs, added, renamed }
}

const compareTools = (change: Change<readonly ManifestTool[]>, owner: Owner, policies: PolicyReader) => {
  const { pairs, added, renamed } = pairTools(change, policies)
  const ofTool = (tool: ManifestTool): Owner => ({ ...owner, tool: tool.name, ...sourceOf(tool) })
  const presentName = (name: string) => renamed.get(name) ?? name
  return {
    renamed,
    findings: [
      ...pairs.flatMap((pair) => toolFindings(pair, { owner: ofTool(pair.after), policies, presentName })),
      ...added.map((tool) => toolAdded(tool, { owner: ofTool(tool), policies })),
    ],
  }
}

/** A tool under another name has the same code, or the same input and similar rights. */
const toolTraits = (policies: PolicyReader): Traits<ManifestTool> => {
  const rights = ({ kind, policy }: ManifestTool) => `${kind} ${policies.read(policy).text}`
  return {
    same: [
      ({ code, input }) => (code === null ? undefined : JSON.stringify([code, input])),
      ({ code }) => code ?? undefined,
      (tool) => (tool.input === null ? undefined : `${tool.input} ${rights(tool)}`),
      // Nothing else is known about it. The name of an MCP tool is a pattern: another one means other tools.
      (tool) => (tool.code === null && tool.input === null && tool.kind !== 'mcp' ? rights(tool) : undefined),
    ],
    parts: ({ input, kind, policy }) =>
      input === null
        ? []
        : [`kind ${kind}`, ...grantTexts(policies.read(policy).text)].map((text) => `${input} ${text}`),
  }
}

/** Each item of each section of a canonical policy. */
const grantTexts = (text: string): readonly string[] =>
  Object.entries(JSON.parse(text) as Readonly<Record<string, unknown>>).flatMap(([section, value]) =>
    Array.isArray(value) ? value.map((item) => `${section} ${JSON.stringify(item)}`) : [],
  )

const compareServers = (change: Change<ManifestAgent>, owner: Owner, policies: PolicyReader): readonly Finding[] => {
  const { pairs, added } = pairUp(change.before.mcp_servers, change.after.mcp_servers, {
    same: [identityOf],
    parts: () => [],
  })
  const ofServer = (server: ManifestServer): Owner => ({ ...owner, server: server.name, ...sourceOf(server) })
  return [
    ...pairs.flatMap((pair) => [
      ...serverFindings(pair, ofServer(pair.after), policies),
      ...compareTools({ before: pair.before.tools, after: pair.after.tools }, ofServer(pair.after), policies).findings,
    ]),
    ...added.map((server) => serverAdded(server, ofServer(server), policies)),
  ]
}

const BUDGETS = ['tool_calls', 'same_tool_in_a_row', 'argument_bytes', 'duration'] as const

const budgetFindings = ({ before, after }: Change<ManifestAgent>, owner: Owner): readonly Finding[] =>
  BUDGETS.flatMap((name) => {
    const [bound, value] = [before.budget[name], after.budget[name]]
    if (bound === undefined || (value !== undefined && value <= bound)) return []
    return makeFinding('budget.raised', owner, {
      sentence:
        value === undefined
          ? say`The budget ${words(name)} is gone, was ${bound}`
          : say`The budget ${words(name)} is now ${value}, was ${bound}`,
      change: [name, bound, value ?? null],
    })
  })

const credentialFindings = ({ before, after }: Change<ManifestAgent>, owner: Owner): readonly Finding[] =>
  Object.entries(after.credentials).flatMap(([id, from]) => {
    const past = Object.hasOwn(before.credentials, id) ? before.credentials[id] : undefined
    if (past === undefined || from === undefined || past === from) return []
    return makeFinding('tool.credential.widened', owner, {
      sentence: say`The credential ${namedPart(id)} now comes from ${from}, was ${past}`,
      change: ['source', id, past, from],
    })
  })

const dynamicFindings = ({ before, after }: Change<ManifestAgent>, owner: Owner): readonly Finding[] => {
  const known = before.dynamic.map(withoutLine)
  return after.dynamic.flatMap((place) => {
    const moved = known.indexOf(withoutLine(place))
    if (moved !== -1) {
      known.splice(moved, 1)
      return []
    }
    return makeFinding('tool.added.high-risk', owner, {
      sentence: say`The agent ${namedPart(after.name)} now has agents or tools that exist only at run time: ${place}`,
      change: ['dynamic', withoutLine(place), after.dynamic.map(withoutLine).filter(isSame(place)).length],
    })
  })
}

const withoutLine = (place: string): string => place.replace(/:\d+\)$/, ')')
const isSame = (place: string) => (other: string) => other === withoutLine(place)
