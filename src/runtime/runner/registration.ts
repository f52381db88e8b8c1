// A tool as the registry has to know it, so that runners take its calls.
import { homedir } from 'node:os'

import { isStandardSchema } from '../../gate/index.js'
import type { EgressClass } from '../../policy/index.js'
import { parseAbsolutePath, readDocument, renderPolicy } from '../../policy/index.js'
import type { ToolRegistration } from '../../store/index.js'

import type { CordonOptions } from '../cordon-options.js'
import { registerTool } from '../registered-tool.js'
import type { ToolDefinition } from '../tools.js'

import type { RunnerTool } from './tool-files.js'

type Home = Pick<CordonOptions, 'workspace' | 'home'>

export const egressClassOf = (definition: ToolDefinition, { workspace, home }: Home): EgressClass =>
  registerTool(definition, { workspace: parseAbsolutePath(workspace, 'workspace'), home: parseAbsolutePath(home ?? homedir(), 'home') }, 'default').gate.boundary.egressClass.level

/** Everything but the owner and who may call it. `requiresApproval` is the registry's to decide: it is on unless somebody says otherwise. */
export const registrationOf = ({ definition, hash, command, stdin }: RunnerTool, home: Home): Omit<ToolRegistration, 'owner'> => ({
  key: definition.name,
  description: definition.description,
  ...(definition.schema === undefined || isStandardSchema(definition.schema) ? {} : { inputSchema: definition.schema }),
  egressClass: egressClassOf(definition, home),
  definition: { kind: definition.kind, ...(command === undefined ? {} : { command }), ...(stdin === undefined ? {} : { stdin }), hash, policy: policyOf(definition) },
  needsBoundary: definition.policy.require,
})

/** As the mapping that it could have been written as. */
const policyOf = ({ policy, name }: ToolDefinition): object => (readDocument(renderPolicy(policy).map(({ text }) => text).join('\n'), name).value as object | null) ?? {}
