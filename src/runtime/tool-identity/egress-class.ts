// The class of a tool decides who is asked about its calls, and whether one that was lost is run again. The registry
// has it by somebody's word; who runs the tool knows it by the tool's policy.
import { homedir } from 'node:os'

import { EGRESS_CLASSES, parseAbsolutePath } from '../../policy/index.js'
import type { EgressClass } from '../../policy/index.js'

import { bindTool } from '../tools/bound-tool.js'
import type { ToolDefinition } from '../tools/tools.js'

/** As the options of a runtime have them. */
export interface Places {
  readonly workspace: string
  readonly home?: string
}

/**
 * In the registry: what writes files outside of its private scratch folder is of the class write, unless its policy
 * names a class.
 */
export const egressClassOf = (definition: ToolDefinition, { workspace, home }: Places): EgressClass => {
  const { boundary } = bindTool(definition, {
    workspace: parseAbsolutePath(workspace, 'workspace'),
    home: parseAbsolutePath(home ?? homedir(), 'home'),
  }).gate
  return boundary.egressClass.derived && boundary.write.some(({ negated }) => !negated)
    ? 'write'
    : boundary.egressClass.level
}

/** A stricter class there only asks more people than needed. */
export const classProblem = (registered: EgressClass, own: EgressClass): string | undefined =>
  EGRESS_CLASSES.indexOf(registered) < EGRESS_CLASSES.indexOf(own)
    ? `it is registered with the class ${registered}, and its policy has the class ${own}`
    : undefined
