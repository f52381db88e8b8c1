// The least policy for the code of a tool, as YAML with the place in the code for each line.
import { lackingIn } from '../analysis/index.js'
import type { AnalysedTool, Exceeding } from '../analysis/index.js'
import { describeWitness, escapeGlob, getOrAdd, isWithin, parsePolicy, renderPolicy } from 'cordon/policy'
import type { Places, PolicyInput, ToolPolicy } from 'cordon/policy'

import { visible } from 'cordon/commands'

import { positionOf, unfollowed } from './project-code.js'

const NOTHING = parsePolicy({}, 'policy')

export const suggestPolicy = (
  tool: AnalysedTool,
  places: Places,
): { readonly text: string; readonly isComplete: boolean } => {
  const needs = lackingIn(NOTHING, tool, places)
  const known = needs.filter(({ grant }) => grant.entry !== undefined)
  const policy = policyFor(known)
  const gaps = [
    ...needs.flatMap(({ does, grant, use }) =>
      grant.entry === undefined
        ? [`${positionOf(use.node, places.workspace)} ${does} that are known only at run time`]
        : [],
    ),
    ...unfollowed(tool).map(({ because, node }) => `${positionOf(node, places.workspace)} ${because}`),
    ...(tool.site.start === undefined ? ['its code is not in the text of the project'] : []),
    ...(tool.site.kind === 'process' ? ['what its program needs cannot be read from the code'] : []),
    ...(tool.site.kind === 'in-process' ? ['it runs in the process of the agent, where no policy confines it'] : []),
  ]
  const lines = [
    comment(
      `the least policy of ${tool.site.name ?? 'the tool'}, by its code at ${positionOf(tool.site.call, places.workspace)}`,
    ),
    ...[...new Set(gaps)].map((gap) => comment(`incomplete: ${gap}`)),
    ...yamlOf(policy, known, places),
    comment(comparison(policy, tool, places)),
  ]
  return { text: `${lines.join('\n')}\n`, isComplete: gaps.length === 0 }
}

/** Texts of a project stay on their line. */
const comment = (text: string): string => `# ${visible(text)}`

const policyFor = (needs: readonly Exceeding[]): ToolPolicy => {
  const entries = (section: Exceeding['grant']['section']) => [
    ...new Set(needs.flatMap((need) => (need.grant.section === section ? entryOf(need) : []))),
  ]
  const [read, write, environment, exec] = [entries('read'), entries('write'), entries('environment'), entries('exec')]
  const network = hostsOf(needs)
  const files = { ...(read.length === 0 ? {} : { read }), ...(write.length === 0 ? {} : { write }) }
  const input: PolicyInput = {
    ...(Object.keys(files).length === 0 ? {} : { filesystem: files }),
    ...(network.length === 0 ? {} : { network }),
    ...(environment.length === 0 ? {} : { environment }),
    ...(exec.length === 0 ? {} : { exec }),
  }
  return parsePolicy(input, 'the suggested policy')
}

/** A path in the code is no glob. Only the end of a folder's is one. */
const entryOf = ({ grant: { section, entry }, use: { deed } }: Exceeding): readonly string[] => {
  if (entry === undefined) return []
  if (section !== 'read' && section !== 'write') return [entry]
  const isFolder = 'path' in deed && deed.path.kind === 'start' && entry.endsWith('/**')
  const path = isFolder ? entry.slice(0, -'/**'.length) : entry
  const escaped = path.startsWith('~') ? `~${escapeGlob(path.slice(1))}` : escapeGlob(path)
  return [`${escaped}${isFolder ? '/**' : ''}`]
}

type Hosts = readonly (string | { readonly host: string; readonly methods: readonly string[] })[]

/** Only the methods that the code names, if all of them are known. */
const hostsOf = (needs: readonly Exceeding[]): Hosts => {
  const methods = new Map<string, Set<string> | 'any'>()
  for (const { grant, use } of needs) {
    if (grant.section !== 'network' || grant.entry === undefined) continue
    const method = methodOf(use.deed)
    const known = getOrAdd(methods, grant.entry, (): Set<string> | 'any' => new Set<string>())
    if (method === undefined) methods.set(grant.entry, 'any')
    else if (known !== 'any') known.add(method)
  }
  return [...methods].map(([host, known]) => (known === 'any' ? host : { host, methods: [...known].sort() }))
}

const methodOf = (deed: Exceeding['use']['deed']): string | undefined =>
  deed.kind === 'network' && deed.target.kind === 'url' && deed.target.method.kind === 'whole'
    ? deed.target.method.text.toUpperCase()
    : undefined

const yamlOf = (policy: ToolPolicy, needs: readonly Exceeding[], { workspace }: Places): readonly string[] => {
  const lines = renderPolicy(policy)
  if (lines.length === 0) return ['{}']
  return lines.map(({ text, item }) => {
    const places = item === undefined ? [] : needs.filter((need) => isNeed(need, item.section, item.key))
    const from = [...new Set(places.map(({ use }) => positionOf(use.node, workspace)))]
    return from.length === 0 ? text : `${text} ${comment(from.join(', '))}`
  })
}

const isNeed = (need: Exceeding, section: string, key: string): boolean =>
  need.grant.section === section &&
  (section === 'network'
    ? key.startsWith(need.grant.entry ?? ' ') || key.includes(need.grant.entry ?? ' ')
    : entryOf(need).includes(key))

const comparison = (policy: ToolPolicy, { granted, policy: state, site }: AnalysedTool, places: Places): string => {
  if (granted === undefined)
    return state === 'missing' ? 'the tool has no policy yet' : 'its present policy is computed, so it is not compared'
  const kind = site.kind === 'process' ? 'process' : 'function'
  const answer = isWithin(policy, granted, { ...places, kind })
  if (!answer.within)
    return `the present policy does not grant all of this: the code ${describeWitness(answer.witness)}`
  return isWithin(granted, policy, { ...places, kind }).within
    ? 'the present policy grants exactly this'
    : 'the present policy grants this, and more'
}
