// Settings of servers by their names: mcp.yaml of the user, and .cordon/mcp.yaml of projects that the user trusts.
//
//     servers:
//       files:
//         policy: { filesystem: { read: [data] } }       # of the server itself, which all its tools have too
//         allow: [roots]                                 # what it may ask its client for
//         publish: 3000/mcp                              # the port at which it serves HTTP inside its cell
//         tools: { read_*: { filesystem: { read: [data/**] } }, "*": server }
//         together: [read_*, write_file]                 # they share an instance, with the policies of both
//         fresh: [run_*]                                 # each call has an instance of its own
//         expose: [read_*]                               # clients see no other tools
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { parseTextPattern } from 'cordon/gate'
import type { TextPattern } from 'cordon/gate'
import {
  itemsOf,
  mappingOf,
  namedNodesOf,
  nodeText,
  oneOf,
  parsePolicyNode,
  placeOf,
  readDocument,
  someItemsOf,
} from 'cordon/policy'
import type { PlacedPolicy, PolicyNode } from 'cordon/policy'
import { PROJECT_FOLDER, projectFolders, readRuleFile, trustOf } from 'cordon/runtime'
import type { Trust } from 'cordon/runtime'
import { isVouchedFor } from 'cordon/commands'
import type { PolicyPlaces } from 'cordon/commands'

import { CLIENT_FEATURE_NAMES } from '../wire/era-2025.js'
import type { ClientFeature } from '../wire/era-2025.js'
import { parsePublished } from './bridge.js'
import { joined, toolEntries } from './tool-policies.js'
import type { ToolEntry } from './tool-policies.js'

export const SETTINGS_FILE = 'mcp.yaml'

export interface ServerSettings {
  /** Of the server itself. */
  readonly policies: readonly PlacedPolicy[]
  /** By the names that the server uses. */
  readonly tools: readonly ToolEntry[]
  readonly allowed: readonly ClientFeature[]
  /** The addresses of its port, inside its cell. The first one counts. */
  readonly published: readonly string[]
  /** Tools of which each call has an instance of its own. */
  readonly fresh: readonly TextPattern[]
  /** Tools that clients see. Empty: all. */
  readonly exposed: readonly TextPattern[]
}

export interface AllServerSettings {
  readonly of: (server: string) => ServerSettings
  /** Names and patterns of servers that have settings. */
  readonly names: readonly string[]
  /** Files of projects that the user does not trust. They do not count. */
  readonly ignored: readonly string[]
}

export const readServerSettings = (places: PolicyPlaces): AllServerSettings => {
  const user = process.geteuid?.() ?? 0
  const own = join(places.configFolder, SETTINGS_FILE)
  const ofProjects = projectFolders(places.workspace, user)
    .map(({ folder, owner }) => ({ folder, owner, path: join(folder, PROJECT_FOLDER, SETTINGS_FILE) }))
    .filter(({ path }) => existsSync(path))
  const isTrusted = ofProjects.map(({ folder }) => isVouchedFor(folder, places))
  const entries = [
    ...(existsSync(own) ? readSettings(own, trustOf('user', user, user)) : []),
    ...ofProjects.flatMap(({ path, owner }, at) =>
      isTrusted[at] === true ? readSettings(path, trustOf('project', user, owner)) : [],
    ),
  ]
  return {
    of: (server) => settingsFor(server, entries),
    names: [...new Set(entries.map(({ name }) => name))],
    ignored: ofProjects.flatMap(({ path }, at) => (isTrusted[at] === true ? [] : [path])),
  }
}

/** The settings of one project, whether the user trusts it or not. */
export const readProjectSettings = (folder: string): ((server: string) => ServerSettings) => {
  const path = join(folder, PROJECT_FOLDER, SETTINGS_FILE)
  const user = process.geteuid?.() ?? 0
  const entries = existsSync(path) ? readSettings(path, trustOf('project', user, statSync(folder).uid)) : []
  return (server) => settingsFor(server, entries)
}

const settingsFor = (server: string, entries: readonly SettingsEntry[]): ServerSettings => {
  const found = entries.filter(({ pattern }) => pattern.matches(server))
  return {
    policies: found.flatMap(({ policies }) => policies),
    tools: found.flatMap(({ tools }) => tools),
    allowed: found.flatMap(({ allowed }) => allowed),
    published: found.flatMap(({ published }) => published),
    fresh: found.flatMap(({ fresh }) => fresh),
    exposed: found.flatMap(({ exposed }) => exposed),
  }
}

interface SettingsEntry extends ServerSettings {
  /** The name of a server, or a pattern of names. */
  readonly name: string
  readonly pattern: TextPattern
}

const readSettings = (path: string, trust: Trust): readonly SettingsEntry[] => {
  const { servers } = mappingOf(readDocument(readRuleFile(path, trust), path), ['servers'])
  return servers === undefined ? [] : namedNodesOf(servers).map(([pattern, node]) => readEntry(pattern, node))
}

const readEntry = (pattern: string, node: PolicyNode): SettingsEntry => {
  const { policy, tools, allow, publish, together, fresh, expose } = mappingOf(node, KEYS)
  const entries = tools === undefined ? [] : toolEntries(tools)
  return {
    name: pattern,
    pattern: parseTextPattern(pattern),
    tools: together === undefined ? entries : joined(entries, together),
    policies: policy === undefined ? [] : [placedPolicy(policy)],
    allowed:
      allow === undefined ? [] : itemsOf(allow, 'a list of features').map((item) => oneOf(item, CLIENT_FEATURE_NAMES)),
    published: publish === undefined ? [] : [parsePublished(String(publish.value), placeOf(publish))],
    fresh: patternsOf(fresh),
    exposed: patternsOf(expose),
  }
}

const KEYS = ['policy', 'tools', 'allow', 'publish', 'together', 'fresh', 'expose'] as const

const patternsOf = (node: PolicyNode | undefined): readonly TextPattern[] =>
  node === undefined
    ? []
    : someItemsOf(node, 'a list of tools').map((item) => parseTextPattern(nodeText(item, 'a name or a pattern')))

const placedPolicy = (node: PolicyNode): PlacedPolicy => {
  const source = placeOf(node)
  return { source, policy: parsePolicyNode(node), whereIs: () => source }
}
