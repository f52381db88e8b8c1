// One hash of everything that decides what a tool does, except the host's programs that it starts. It tells whether a
// runner has the tool that the team registered.
import { hashOf, isStandardSchema } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'
import { policyHash } from 'cordon/policy'
import { cannotRun, codeOfTool, sourceOnHost } from 'cordon/runtime'
import type { ToolDefinition } from 'cordon/runtime'

import type { CommandTemplate } from './command-template.js'

/** Changed whenever the same tool would get another hash. */
const FORM = 'cordon-tool/1'

/** `template`: for a tool from a file. Other tools are hashed by the source of their functions. */
export const toolHash = (tool: ToolDefinition, template?: CommandTemplate): string => {
  const { name, description, kind, schema, policy, constraints, cwd, argumentGate, destructive } = tool
  if (isStandardSchema(schema))
    throw cannotRun(
      tool,
      'its input is described by a library',
      'describe it by a JSON Schema, which the registry checks too',
    )
  return hashOf({
    form: FORM,
    name,
    description,
    kind,
    input: plain(schema),
    policy: policyHash(policy),
    constraints: plain(constraints),
    cwd: cwd ?? null,
    argument_gate: argumentGate,
    // A function with variables from outside could change its behaviour without changing its text.
    destructive: typeof destructive === 'function' ? sourceOnHost(name, destructive) : plain(destructive),
    code:
      template === undefined
        ? codeOfTool(tool, (source) => source)
        : { words: template.words, stdin: template.stdin ?? null, successes: successesOf(tool) },
  })
}

const successesOf = (tool: ToolDefinition): JsonValue => (tool.kind === 'process' ? tool.successes : null)

const plain = (value: unknown): JsonValue =>
  value === undefined ? null : (JSON.parse(JSON.stringify(value)) as JsonValue)
