import { describeTool, isStandardSchema } from '../gate/index.js'
import type { GateTool } from '../gate/index.js'
import type { AbsolutePath } from '../policy/index.js'
import { parseAbsolutePath } from '../policy/index.js'

import { parserOfJsonSchema } from './json-schema.js'
import type { ToolDefinition } from './tools.js'

/** A tool as one runtime knows it: what was declared, and what that means in this workspace. */
export interface RegisteredTool {
  readonly definition: ToolDefinition
  readonly gate: GateTool
  readonly cwd: AbsolutePath
}

export interface Home {
  readonly workspace: AbsolutePath
  readonly home: AbsolutePath
}

export const registerTool = (definition: ToolDefinition, { workspace, home }: Home): RegisteredTool => {
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
  return { definition, gate, cwd }
}
