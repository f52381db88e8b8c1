// The options of createCordon as an agent of a manifest.
import type { VaultAccess } from '../../egress/index.js'
import { conditionsOf, hashOf, usualOutcome } from '../../gate/index.js'
import type { JsonValue, Rule, RuleSet } from '../../gate/index.js'
import { keyedHash, portableGlob, portablePath } from '../../manifest/index.js'
import type { ManifestAgent, ManifestKey, ManifestRule, ManifestTool, ProjectPlaces } from '../../manifest/index.js'
import { parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import { bindTools } from '../assemble/bind-tools.js'
import type { CordonOptions } from '../cordon-options.js'
import type { Description } from '../describing.js'
import { describeForManifest } from '../held/held-tool.js'
import { modelSchemaOf } from '../model/list-tools.js'
import { ruleSetsOf } from '../settings/rule-sets.js'
import { codeHash } from '../tool-identity/tool-code.js'
import type { BoundTool } from '../tools/bound-tool.js'

export const describeAgent = (
  options: CordonOptions,
  { project, home, key, tools: made }: Pick<Description, 'project' | 'home' | 'key' | 'tools'>,
): ManifestAgent => {
  const bound = bindTools(options, undefined, undefined)
  const places: ProjectPlaces = {
    workspace: bound.places.workspace,
    project: parseAbsolutePath(project),
    homes: [bound.places.home],
  }
  const { ofFiles, own } = ruleSetsOf(options, bound.places)
  const mode = options.mode ?? 'default'
  const sets = [...ofFiles, ...own]
  const approvalOf = ({ gate }: BoundTool): ManifestTool['approval'] => {
    const usual = usualOutcome(gate, sets, mode)
    // Nobody has to answer.
    return usual === 'ask' && options.approval?.otherwise === 'approve' ? 'allow' : usual
  }
  const { toolCalls, sameToolInARow, argumentBytes, duration } = options.budget ?? {}
  const ofProject: ProjectPlaces = { ...places, workspace: places.project, homes: [parseAbsolutePath(home)] }
  const workspace = portablePath(bound.places.workspace, ofProject)
  const settings = describeSettings(options, bound.places.home, ofProject)
  return {
    name: options.context?.agent ?? '',
    ...(workspace === '.' ? {} : { workspace }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
    mode,
    budget: withoutUndefined({
      tool_calls: toolCalls,
      same_tool_in_a_row: sameToolInARow,
      argument_bytes: argumentBytes,
      duration,
    }),
    rules: rulesOf(sets, places),
    credentials: Object.fromEntries(
      Object.entries(options.egress?.secrets ?? {}).map(([id, text]) => [id, sourceText(text, places, key)]),
    ),
    tools: bound.list
      .map((each) => ({
        ...describeTool(each, places, key),
        ...withoutUndefined({ source: made.find(({ definition }) => definition === each.definition)?.source }),
        approval: approvalOf(each),
      }))
      .toSorted(byName),
    mcp_servers: [],
    dynamic: [],
  }
}

const byName = ({ name: one }: { readonly name: string }, { name: other }: { readonly name: string }): number =>
  one < other ? -1 : 1

const describeTool = (
  { definition, gate: { boundary } }: BoundTool,
  places: ProjectPlaces,
  key: ManifestKey,
): Omit<ManifestTool, 'approval'> => {
  const { schema, cwd } = definition
  const input = schema === undefined ? undefined : modelSchemaOf(schema)
  return {
    ...describeForManifest(definition, places, key),
    risk: boundary.risk.level,
    egress_class: boundary.egressClass.level,
    input: input === undefined ? null : hashOf(JSON.parse(JSON.stringify(input)) as JsonValue),
    code: codeHash(definition) ?? null,
    ...(cwd === undefined ? {} : { cwd: portablePath(cwd, places) }),
  }
}

/** Their order means nothing, and an equal rule counts once. */
const rulesOf = (sets: readonly RuleSet[], places: ProjectPlaces): ManifestAgent['rules'] => {
  const described = sets.flatMap(({ rules }) => rules.map((rule) => describeRule(rule, places)))
  const byText = new Map(described.map((rule) => [JSON.stringify(rule), rule]))
  return [...byText.keys()].sort().flatMap((text) => byText.get(text) ?? [])
}

const describeRule = (rule: Rule, places: ProjectPlaces): ManifestRule => {
  const conditions = conditionsOf(rule, (text) => portableGlob(text, places))
  const { effect, source: from, because, place } = rule
  const content = { effect, from, because, conditions }
  const isNamed = !rule.id.startsWith(`${from}:${place}`)
  return {
    id: isNamed ? rule.id : `unnamed-${hashOf(content).slice('sha256:'.length, 'sha256:'.length + 12)}`,
    ...(place.startsWith('/') ? { source: fileText(place, places) } : {}),
    ...content,
  }
}

/** From the folder of the project. */
const fileText = (place: string, places: ProjectPlaces): string =>
  portablePath(place, { ...places, workspace: places.project }).replace(/^\.\//, '')

/** Arguments of a command may be secrets themselves. */
const sourceText = (text: string, places: ProjectPlaces, key: ManifestKey): string => {
  const [kind = '', ...rest] = text.split(':')
  const named = rest.join(':')
  if (kind === 'file') return `file:${portablePath(named, places)}`
  if (kind !== 'command') return text
  const [program = '', ...words] = named.split(/\s+/).filter((word) => word !== '')
  const shown = portablePath(program, places)
  return words.length === 0
    ? `command:${shown}`
    : `command:${shown} ${keyedHash(key, 'arguments', JSON.stringify(words))}`
}

/** Options that concern all tools. `home`: of the agent. `places`: of the project and its user. */
const describeSettings = (
  { egress = {}, sandbox = {} }: CordonOptions,
  home: AbsolutePath,
  places: ProjectPlaces,
): NonNullable<ManifestAgent['settings']> => {
  const { pins = {}, authorities = [], vault } = egress
  const { form = 'auto', launcher } = sandbox
  const ownHome = portablePath(home, places)
  const pinned = Object.entries(pins).map(([host, addresses]) => [host.toLowerCase(), [...addresses].sort()] as const)
  return withoutUndefined({
    home: ownHome === '~' ? undefined : ownHome,
    pins: pinned.length === 0 ? undefined : Object.fromEntries(pinned),
    authorities: authorities.length === 0 ? undefined : [...new Set(authorities.map((pem) => hashOf(pem)))].sort(),
    vault: vault === undefined ? undefined : vaultText(vault),
    form: form === 'auto' ? undefined : form,
    launcher: launcher === undefined ? undefined : portablePath(launcher, places),
  })
}

/** Without a password, and never with the token. */
const vaultText = ({ address, namespace = '', authorities = [] }: VaultAccess): string => {
  const shown = address.replace(/\/\/[^/]*@/, '//')
  return namespace === '' && authorities.length === 0 ? shown : `${shown} ${hashOf([namespace, ...authorities])}`
}
