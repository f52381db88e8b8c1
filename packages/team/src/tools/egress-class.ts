// The egress class of a tool decides who is asked about its calls, and whether a lost call runs again. A person
// registered it. The runner compares it with the tool's policy.
import { homedir } from 'node:os'
import { EGRESS_CLASSES, parseAbsolutePath } from 'cordon/policy'
import type { EgressClass } from 'cordon/policy'
import { bindTool } from 'cordon/runtime'
import type { ToolDefinition } from 'cordon/runtime'

export interface Places {
  readonly workspace: string
  readonly home?: string
}

/** A tool that writes files outside of its scratch folder has the class `write`, unless its policy names a class. */
export const egressClassOf = (definition: ToolDefinition, { workspace, home }: Places): EgressClass => {
  const { boundary } = bindTool(definition, {
    workspace: parseAbsolutePath(workspace, 'workspace'),
    home: parseAbsolutePath(home ?? homedir(), 'home'),
  }).gate
  return boundary.egressClass.derived && boundary.write.some(({ negated }) => !negated)
    ? 'write'
    : boundary.egressClass.level
}

/** A stricter class in the registry does no harm: it only asks more people. */
export const classProblem = (registered: EgressClass, own: EgressClass): string | undefined =>
  EGRESS_CLASSES.indexOf(registered) < EGRESS_CLASSES.indexOf(own)
    ? `it is registered with the class ${registered}, and its policy has the class ${own}`
    : undefined
