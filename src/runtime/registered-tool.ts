import { describeTool, isStandardSchema } from '../gate/index.js'
import type { GateTool, Mode } from '../gate/index.js'
import type { AbsolutePath, Boundary } from '../policy/index.js'
import { TOOL_KINDS, parseAbsolutePath } from '../policy/index.js'

import { parserOfJsonSchema } from './input-schema.js'
import { outputLimitOf } from './result-limits.js'
import type { ToolDefinition } from './tools.js'

/** A tool as one runtime knows it: what was declared, and what that means in this workspace. */
export interface RegisteredTool {
  readonly definition: ToolDefinition
  readonly gate: GateTool
  readonly cwd: AbsolutePath
  /** Refused opens of files are looked for: always, where the host can, or not. */
  readonly observe: 'always' | 'where-possible' | 'never'
  /** Its policy was widened for one call. */
  readonly isWidened: boolean
}

export interface Home {
  readonly workspace: AbsolutePath
  readonly home: AbsolutePath
}

export const registerTool = (definition: ToolDefinition, { workspace, home }: Home, mode: Mode): RegisteredTool => {
  const { name, kind, policy, schema } = definition
  const cwd = definition.cwd === undefined ? workspace : parseAbsolutePath(definition.cwd, `cwd of the tool ${name}`)
  const gate = describeTool({
    name,
    kind,
    policy,
    workspace,
    home,
    cwd,
    ...(schema === undefined ? {} : { schema }),
    ...(schema === undefined || isStandardSchema(schema) ? {} : { parse: parserOfJsonSchema(name, schema) }),
    constraints: definition.constraints,
    ...(kind === 'process' ? { command: definition.command } : {}),
    destructive: definition.destructive,
    argumentGate: definition.argumentGate,
  })
  return { definition, gate: { ...gate, boundary: withOutputLimit(gate.boundary, definition) }, cwd, observe: observing(definition, mode), isWidened: false }
}

/** What a tool writes is held in the memory of the host and passed on by it, so it has an end also where the policy names none. */
const withOutputLimit = (boundary: Boundary, definition: ToolDefinition): Boundary => {
  if (boundary.limits.output !== undefined || !TOOL_KINDS[definition.kind].startsProcess) return boundary
  return { ...boundary, limits: { ...boundary.limits, output: outputLimitOf('result' in definition ? definition.result : undefined) } }
}

/** In this mode somebody is asked about what was refused, so it has to be known exactly. */
const observing = ({ kind, observe }: ToolDefinition, mode: Mode): RegisteredTool['observe'] => {
  if (observe !== undefined) return observe ? 'always' : 'never'
  return TOOL_KINDS[kind].startsProcess && mode === 'on_failure' ? 'where-possible' : 'never'
}
