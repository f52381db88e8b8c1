import { homedir } from 'node:os'
import { isDeepStrictEqual } from 'node:util'

import type { SecretSource } from '../../egress/index.js'
import { parseAbsolutePath } from '../../policy/index.js'
import type { Places } from '../../policy/index.js'

import type { AuditLog } from '../audit/audit-log.js'
import { auditOwnFiles } from '../audit/audit-files.js'
import { unconfinedTool } from '../call/unconfined-tool.js'
import type { CordonOptions } from '../cordon-options.js'
import { sourcesOf } from '../network/index.js'
import {
  credentialFiles,
  engineFiles,
  namedFiles,
  programFiles,
  shieldOwnFiles,
  userFiles,
} from '../own-files/index.js'
import type { OwnFile } from '../own-files/index.js'
import { loadBounds } from '../rule-files/index.js'
import type { RequireWithin } from '../rule-files/index.js'
import { holdTools } from '../held/hold-tools.js'
import type { GivenManifest } from '../held/hold-tools.js'
import { bindTool } from '../tools/bound-tool.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolDefinition } from '../tools/tools.js'

/** The tools of one runtime, in its workspace. */
export interface BoundTools {
  readonly places: Places
  /** In their order. The gate refuses two tools with one name. */
  readonly list: readonly BoundTool[]
  readonly byName: ReadonlyMap<string, BoundTool>
  readonly bind: (definition: ToolDefinition) => BoundTool
  /** For `runUnconfined`. A bound of the machine or of a project refuses it: it allows only what is in a cell. */
  readonly unconfined: (tool: BoundTool) => BoundTool
  /** With these tools instead. */
  readonly having: (definitions: readonly ToolDefinition[]) => BoundTools
  readonly ownFiles: readonly OwnFile[]
  /** The sources of credentials, by their ids. */
  readonly sources: ReadonlyMap<string, SecretSource>
}

/** `known` are kept if their boundaries stay the same. */
export const bindTools = (
  options: CordonOptions,
  audit: AuditLog | undefined,
  manifest: GivenManifest | undefined,
  known: readonly BoundTool[] = [],
): BoundTools => {
  const places = {
    workspace: parseAbsolutePath(options.workspace, 'workspace'),
    home: parseAbsolutePath(options.home ?? homedir(), 'home'),
  }
  const sources = sourcesOf(options.egress?.secrets ?? {})
  const ownFiles = [
    ...(audit === undefined ? [] : auditOwnFiles(audit.places)),
    ...ownFilesOf(options, sources, places),
    ...manifestFiles(manifest),
  ]
  const requireWithin = requireWithinBounds(options, places)
  const hold = holdTools(manifest, options.context?.agent, places)
  const bind = (definition: ToolDefinition): BoundTool => {
    requireWithin(definition)
    const verdict = hold(definition)
    const bound = bindTool(definition, places)
    const all = [...ownFiles, ...programFiles(bound.gate.boundary, { workspace: places.workspace })]
    const boundary = shieldOwnFiles(bound.gate.boundary, all, bound.cwd)
    return { ...bound, ownFiles: all, manifest: verdict, gate: { ...bound.gate, boundary } }
  }
  const unconfined = (tool: BoundTool): BoundTool => {
    const { definition } = tool
    requireWithin({ ...definition, kind: 'in-process' })
    const verdict = hold({ ...definition, kind: 'in-process' } as ToolDefinition)
    return { ...unconfinedTool(tool), manifest: verdict }
  }
  const isOfRuntime = ({ program }: OwnFile) => program === undefined
  const list = options.tools.map(
    (definition) =>
      known.find(
        (each) => each.definition === definition && isDeepStrictEqual(each.ownFiles.filter(isOfRuntime), ownFiles),
      ) ?? bind(definition),
  )
  const byName = new Map(list.map((each) => [each.definition.name, each]))
  const having: BoundTools['having'] = (definitions) =>
    bindTools({ ...options, tools: definitions }, audit, manifest, list)
  return { places, list, byName, bind, unconfined, having, ownFiles, sources }
}

/** With the rules of the same sources. A widened policy of one call is bound again, and so compared again. */
const requireWithinBounds = ({ ruleFiles = 'managed' }: CordonOptions, places: Places): RequireWithin =>
  ruleFiles === 'none'
    ? () => undefined
    : loadBounds({ ...places, projects: ruleFiles === 'all' ? 'read' : 'left-out' })

/** A tool that could change its manifest could write what it may do next time. */
const manifestFiles = (given: GivenManifest | undefined): readonly OwnFile[] => {
  const { manifest, key } = given?.files ?? {}
  return [
    ...namedFiles(manifest === undefined ? [] : [manifest], 'the manifest of the tools'),
    ...(key === undefined ? [] : [{ ...KEY, path: key }]),
  ]
}

const KEY = { access: 'withheld', what: 'the key of the manifest', fix: 'grant something else' } as const
const TICKETS = { access: 'withheld', what: 'the folder of used tickets', fix: 'grant something else' } as const

/** The files that this runtime reads and writes, except its audit log. */
const ownFilesOf = (
  options: CordonOptions,
  sources: BoundTools['sources'],
  { workspace, home }: Places,
): readonly OwnFile[] => {
  const {
    tools,
    registry,
    configFolder,
    environment,
    tickets,
    containers,
    ownFiles: { withheld = [], readOnly = [] } = {},
  } = options
  const named = { what: 'named in ownFiles', fix: 'grant something else' }
  return [
    ...(registry?.ownFiles ?? []),
    ...engineFiles(environment ?? {}, containers?.socket),
    ...credentialFiles(sources, { workspace, home, searchPath: environment?.['PATH'] }),
    ...userFiles(environment ?? {}, home, configFolder),
    ...namedFiles(
      tools.flatMap(({ policyFile }) => policyFile ?? []),
      'the policy of a tool',
    ),
    ...(tickets?.folder === undefined ? [] : [{ ...TICKETS, path: tickets.folder }]),
    ...withheld.map((path): OwnFile => ({ path, access: 'withheld', ...named })),
    ...readOnly.map((path): OwnFile => ({ path, access: 'read-only', ...named })),
  ]
}
