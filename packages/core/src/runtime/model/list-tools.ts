// The tools of a runtime as an agent offers them to a model.
import type { JsonSchema } from '../../gate/index.js'
import type { Risk } from '../../policy/index.js'

import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolDefinition } from '../tools/tools.js'
import { modelNamesOf } from './model-names.js'
import { modelSchemaOf } from './model-schema.js'

export interface ListedTool {
  readonly name: string
  /** The name for the model: providers accept letters, digits, "_" and "-" alone. `callFromModel` takes it. */
  readonly modelName: string
  readonly description: string
  readonly kind: ToolDefinition['kind']
  readonly risk: Risk
  /** Draft 2020-12, without marks of Cordon. */
  readonly inputSchema: JsonSchema
  /** The policy guarantees that it changes nothing outside of its sandbox. */
  readonly readOnly: boolean
  /** It declares that its calls destroy something. */
  readonly destructive: boolean
  /** It may reach hosts. */
  readonly openWorld: boolean
}

export const listTools = (tools: readonly BoundTool[]): readonly ListedTool[] => {
  const names = modelNamesOf(tools.map(({ gate }) => gate.name))
  return tools.map(({ definition, gate: { name, boundary, isReadOnly } }) => {
    const { kind, description, schema, destructive } = definition
    const isHeld = kind !== 'in-process'
    return {
      name,
      kind,
      description,
      modelName: names.get(name) ?? name,
      risk: boundary.risk.level,
      inputSchema: modelSchemaOf(schema) ?? { type: 'object' },
      readOnly: isHeld && isReadOnly,
      destructive: destructive !== undefined,
      openWorld: !isHeld || boundary.egressClass.level !== 'none',
    }
  })
}
