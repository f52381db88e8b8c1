// A tool as the registry has to know it, so that runners take its calls.
import { isStandardSchema } from '../../gate/index.js'
import { readDocument, renderPolicy } from '../../policy/index.js'
import type { ToolRegistration } from '../../store/index.js'

import { egressClassOf } from '../tool-identity/egress-class.js'
import type { Places } from '../tool-identity/egress-class.js'
import type { ToolDefinition } from '../tools/tools.js'

import type { RunnerTool } from './tool-files.js'

/**
 * Everything but the owner and who may call it. `requiresApproval` is the registry's to decide: it is on unless
 * somebody says otherwise.
 */
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
    ...(command === undefined ? {} : { command }),
    ...(stdin === undefined ? {} : { stdin }),
    hash,
    policy: policyOf(definition),
  },
  needsBoundary: definition.policy.require,
})

/** As the mapping that it could have been written as. */
const policyOf = ({ policy, name }: ToolDefinition): object =>
  (readDocument(
    renderPolicy(policy)
      .map(({ text }) => text)
      .join('\n'),
    name,
  ).value as object | null) ?? {}
