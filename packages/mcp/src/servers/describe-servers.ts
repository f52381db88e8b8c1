// The MCP servers of a file with "mcpServers", with the policies of .cordon/mcp.yaml and the pins of .cordon/mcp.lock.
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { policyValue, portablePath, portablePolicy } from 'cordon/manifest'
import type { ManifestServer, ManifestTool, ProjectPlaces } from 'cordon/manifest'
import { parsePolicy } from 'cordon/policy'
import type { PlacedPolicy, ToolPolicy } from 'cordon/policy'
import { describeAgent, mcpTool, PROJECT_FOLDER, trustOf } from 'cordon/runtime'
import { withoutUndefined } from 'cordon/shapes'
import { combinePolicies } from 'cordon/commands'
import type { DescribedProject } from 'cordon/commands'

import type { LockPlace } from '../packages/lock-file.js'
import { pinOf, serverAddress, serverWords } from '../packages/server-words.js'
import { readRemoteServer } from './remote-server.js'
import { chooseServers } from './server-choice.js'
import type { ChosenServer } from './server-choice.js'
import { readProjectSettings } from './server-settings.js'
import { policiesWithin, asDeclared } from './tool-policies.js'
import type { ToolEntry } from './tool-policies.js'

export const describeServers = (
  { path, name: file }: { readonly path: string; readonly name: string },
  project: DescribedProject,
): readonly ManifestServer[] => {
  const { folder, home, key } = project
  const settings = readProjectSettings(folder)
  const places = { workspace: folder, project: folder, homes: [home] }
  const given = { switches: new Set<string>(), values: new Map([['config', [path]]]), rest: [] }
  return chooseServers(given).map((server): ManifestServer => {
    const { policies, tools, allowed, published } = settings(server.name)
    const { transport, argv, name } = server
    const cwd = portablePath(resolve(folder, server.cwd ?? '.'), places)
    const isRemote = transport.kind === 'remote'
    const origin = originIn(argv)
    const behind = origin === undefined ? [] : [readRemoteServer(name, `${file}: "${name}"`, { url: origin }).policy]
    const written = isRemote ? [transport.remote.policy] : [...policies, ...behind]
    const policyWith = (added: readonly PlacedPolicy[]) => combinePolicies([...written, ...added], variablesOf(server))
    const policy = policyWith([])
    // Its processes together.
    const ofAll = isRemote ? policy : policyWith(policiesWithin('', tools))
    return {
      name,
      source: file,
      ...(isRemote
        ? {}
        : {
            command: origin === undefined ? serverWords(argv, places, key) : argv.map((word) => ownWord(word, places)),
          }),
      ...withoutUndefined({ url: isRemote ? serverAddress(transport.remote.url, key) : origin }),
      ...(cwd === '.' ? {} : { cwd }),
      ...(allowed.length === 0 ? {} : { allow: [...new Set(allowed)].sort() }),
      ...withoutUndefined({ publish: published[0] }),
      pin: isRemote ? null : pinOf(argv, lockIn(folder)),
      policy: policyValue(portablePolicy(ofAll, places), key),
      tools: tools.map((entry) =>
        describeTool(entry, policyOfTool(entry, isRemote ? undefined : policyWith, policy), project),
      ),
    }
  })
}

/** The host of a remote server that `cordon mcp install` put behind Cordon. It refuses an address elsewhere. */
const originIn = (argv: readonly string[]): string | undefined => {
  const given = argv.includes('mcp') ? argv.find((word) => word.startsWith(ORIGIN))?.slice(ORIGIN.length) : undefined
  return given !== undefined && URL.canParse(given) ? new URL(given).origin : undefined
}

const ORIGIN = '--origin='

/** Each user has the address in another file. Its name says nothing. */
const ownWord = (word: string, places: ProjectPlaces): string =>
  word.startsWith('--config=/') && word.includes('/cordon/mcp/remotes/')
    ? '--config=REMOTE'
    : portablePath(word, places)

const variablesOf = ({ variables, name }: ChosenServer): ToolPolicy => {
  const set = Object.entries(variables).map(([key, text]) => `${key}=${text}`)
  return parsePolicy(set.length === 0 ? {} : { environment: set }, `the variables of ${name}`)
}

const lockIn = (folder: string): LockPlace => ({
  path: join(folder, PROJECT_FOLDER, 'mcp.lock'),
  trust: trustOf('project', process.geteuid?.() ?? 0, statSync(folder).uid),
})

/** What its instance grants. `policyWith`: of the server, with a further policy. Undefined: it runs elsewhere. */
const policyOfTool = (
  { policy, source }: ToolEntry,
  policyWith: ((added: readonly PlacedPolicy[]) => ToolPolicy) | undefined,
  ofServer: ToolPolicy,
): ToolPolicy => {
  const granted = policy !== 'server' && 'proposedWithin' in policy ? policy.proposedWithin : policy
  if (granted === 'server') return ofServer
  if (policyWith === undefined) return granted
  return asDeclared(policyWith([{ source, policy: granted, whereIs: () => source }]), granted)
}

/** A pattern of names stands for all tools that it matches. */
const describeTool = ({ pattern }: ToolEntry, policy: ToolPolicy, project: DescribedProject): ManifestTool => {
  const { folder, home, key } = project
  const tool = mcpTool({
    name: 'tool',
    ownName: 'tool',
    description: '',
    input: {},
    policy,
    policyFix: undefined,
    cwd: folder,
    server: { name: '', instance: () => Promise.reject(new Error('it is only described')) },
  })
  const options = { tools: [tool], workspace: folder, home, ruleFiles: 'none' } as const
  const [described] = describeAgent(options, { project: folder, home, key, tools: [] }).tools
  if (described === undefined) throw new Error('a tool without a description')
  const { cwd: _, ...rest } = described
  return { ...rest, name: pattern.written, input: null }
}
