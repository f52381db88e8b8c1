// The registration of a runner's tool.
import { isStandardSchema } from 'cordon/gate'
import { readDocument, renderPolicy } from 'cordon/policy'
import { withoutUndefined } from 'cordon/shapes'
import type { ToolRegistration } from '../store/index.js'

import { egressClassOf } from './egress-class.js'
import type { Places } from './egress-class.js'
import type { ToolDefinition } from 'cordon/runtime'

import type { RunnerTool } from './tool-files.js'

/** Without owner and callers. `requiresApproval` is left to the registry, where its default is on. */
export const registrationOf = (
  { definition, hash, command, stdin }: RunnerTool,
  places: Places,
): Omit<ToolRegistration, 'owner'> => ({
  key: definition.name,
  description: definition.description,
  ...(definition.schema === undefined || isStandardSchema(definition.schema) ? {} : { inputSchema: definition.schema }),
  egressClass: egressClassOf(definition, places),
  definition: {
    kind: definition.kind,
    ...withoutUndefined({ command, stdin }),
    hash,
    policy: policyOf(definition),
  },
  needsBoundary: definition.policy.require,
})

/** The policy as a mapping. */
const policyOf = ({ policy, name }: ToolDefinition): object =>
  (readDocument(
    renderPolicy(policy)
      .map(({ text }) => text)
      .join('\n'),
    name,
  ).value as object | null) ?? {}
