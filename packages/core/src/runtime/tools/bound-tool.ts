import { describeTool, isStandardSchema } from '../../gate/index.js'
import type { GateTool } from '../../gate/index.js'
import type { ManifestVerdict } from '../../manifest/index.js'
import type { AbsolutePath, Boundary, Places } from '../../policy/index.js'
import { TOOL_KINDS, parseAbsolutePath } from '../../policy/index.js'
import type { Observing } from '../../sandbox/index.js'
import { withoutUndefined } from '../../shapes/index.js'

import { parserOfJsonSchema } from './input-schema.js'
import type { OwnFile } from '../own-files/index.js'
import { outputLimitOf } from '../result/result-limits.js'
import type { ToolDefinition } from './tools.js'

/** A tool of one runtime, bound to its workspace. */
export interface BoundTool {
  readonly definition: ToolDefinition
  readonly gate: GateTool
  readonly cwd: AbsolutePath
  readonly workspace: AbsolutePath
  readonly ownFiles: readonly OwnFile[]
  /** Which refused files are reported. */
  readonly observe: Observing
  /** Its policy was widened for one call. */
  readonly isWidened: boolean
  /** Undefined without a manifest. */
  readonly manifest: ManifestVerdict | undefined
}

/** Functions of this process and servers of tools run without one. */
export const needsCell = ({ definition: { kind } }: BoundTool): boolean => kind === 'process' || kind === 'function'

export const bindTool = (definition: ToolDefinition, { workspace, home }: Places): BoundTool => {
  const { name, kind, policy, schema } = definition
  const cwd = definition.cwd === undefined ? workspace : parseAbsolutePath(definition.cwd, `cwd of the tool ${name}`)
  const gate = describeTool({
    name,
    kind,
    policy,
    ...(kind === 'mcp' ? { hasPolicy: definition.hasPolicy } : {}),
    workspace,
    home,
    cwd,
    ...withoutUndefined({ schema }),
    ...(schema === undefined || isStandardSchema(schema) ? {} : { parse: parserOfJsonSchema(name, schema) }),
    constraints: definition.constraints,
    ...(kind === 'process' ? { command: definition.command } : {}),
    destructive: definition.destructive,
    argumentGate: definition.argumentGate,
  })
  return {
    definition,
    gate: { ...gate, boundary: withOutputLimit(gate.boundary, definition) },
    cwd,
    workspace,
    ownFiles: [],
    observe: definition.observe === undefined ? 'reads' : definition.observe ? 'everything' : 'changes',
    isWidened: false,
    manifest: undefined,
  }
}

/** The host keeps a tool's output in memory, so it is limited even if the policy names no limit. */
const withOutputLimit = (boundary: Boundary, definition: ToolDefinition): Boundary => {
  if (boundary.limits.output !== undefined || !TOOL_KINDS[definition.kind].startsProcess) return boundary
  return {
    ...boundary,
    limits: { ...boundary.limits, output: outputLimitOf('result' in definition ? definition.result : undefined) },
  }
}
