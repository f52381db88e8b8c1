import { fail } from '../errors/index.js'
import {
  TOOL_KINDS,
  isSandboxedKind,
  policyHash,
  resolvePolicy,
  resolveStance,
  undeclaredSections,
} from '../policy/index.js'
import type { AbsolutePath, Boundary, Stance, StanceSection, ToolKind, ToolPolicy } from '../policy/index.js'

import { UNCONSTRAINED } from './constraints/constraints.js'
import type { Constraints } from './constraints/constraints.js'
import type { JsonValue } from './input/json-value.js'
import { NO_MARKS, findMarks } from './arguments/mark-tree.js'
import type { MarkTree } from './arguments/mark-tree.js'
import { acceptAnyInput, isStandardSchema, parserOf } from './input/parameter-marks.js'
import type { JsonSchema, ParseInput, StandardSchema } from './input/parameter-marks.js'

/** What a destructive call affects, and how to undo it. */
export interface DestructiveFacts {
  readonly impactScope: string
  readonly rollbackAdvice: string
}

/** A tool as the gate sees it. */
export interface GateTool {
  readonly name: string
  /** An in-process tool runs in the agent's own process, where only the gate checks it. */
  readonly runs: (typeof TOOL_KINDS)[ToolKind]['runs']
  readonly policy: ToolPolicy
  /** False for a tool of an MCP server that nobody has written a policy for. No mode trusts it for its sandbox. */
  readonly hasPolicy: boolean
  /** Enforced by the sandbox. Of an in-process tool, only a declaration. */
  readonly boundary: Boundary
  /** Omitted sections. A cell grants nothing there, and the argument gate has nothing to compare with. */
  readonly noStance: readonly StanceSection[]
  readonly policyHash: string
  readonly places: { readonly workspace: AbsolutePath; readonly home: AbsolutePath; readonly cwd: AbsolutePath }
  /** Whether `egress_class` is `write`, which always needs approval. */
  readonly needsApproval: boolean
  readonly isReadOnly: boolean
  readonly constraints: Constraints
  readonly parse: ParseInput
  readonly marks: MarkTree
  /** The command of a process tool, as words. */
  readonly command: ((input: JsonValue) => readonly string[]) | undefined
  readonly destructive: DestructiveFacts | ((input: JsonValue) => DestructiveFacts | undefined) | undefined
  readonly argumentGate: 'enforced' | 'off'
}

export interface ToolDeclaration {
  readonly name: string
  readonly kind: ToolKind
  readonly policy: ToolPolicy
  /** (default: true) */
  readonly hasPolicy?: boolean
  readonly workspace: AbsolutePath
  readonly home: AbsolutePath
  /** Of the cell. Default: the workspace. */
  readonly cwd?: AbsolutePath
  readonly schema?: StandardSchema | JsonSchema
  /** Validates input by a JSON Schema. A Standard Schema has its own. */
  readonly parse?: ParseInput
  readonly constraints?: Constraints
  readonly command?: (input: JsonValue) => readonly string[]
  readonly destructive?: GateTool['destructive']
  readonly argumentGate?: 'enforced' | 'off'
}

const TOOL_NAME = /^[A-Za-z0-9_.:/-]{1,128}$/

export const describeTool = (declaration: ToolDeclaration): GateTool => {
  const { name, kind, policy, workspace, home, schema, parse, destructive } = declaration
  if (!TOOL_NAME.test(name) || name === '__proto__')
    throw fail('tool-name-invalid', {
      tool: JSON.stringify(name),
      problem: 'contains what a name must not',
      fix: 'use letters, digits and _ - . : / only, at most 128 of them',
    })
  const { boundary, noStance } = stanceOf(declaration)
  const hasPolicy = declaration.hasPolicy ?? true
  return {
    name,
    runs: TOOL_KINDS[kind].runs,
    policy,
    hasPolicy,
    boundary,
    noStance,
    policyHash: policyHash(policy),
    places: { workspace, home, cwd: declaration.cwd ?? workspace },
    needsApproval: boundary.egressClass.level === 'write',
    isReadOnly:
      hasPolicy && typeof destructive !== 'object' && isReadOnly(boundary, isSandboxedKind(kind) ? [] : noStance),
    constraints: declaration.constraints ?? UNCONSTRAINED,
    parse: parse ?? (isStandardSchema(schema) ? parserOf(schema) : acceptAnyInput),
    marks: schema === undefined ? NO_MARKS : findMarks(schema),
    command: declaration.command,
    destructive,
    argumentGate: declaration.argumentGate ?? 'enforced',
  }
}

const stanceOf = ({ kind, policy, workspace, home }: ToolDeclaration): Stance => {
  if (!isSandboxedKind(kind)) return resolveStance(policy, { workspace, home })
  const boundary = resolvePolicy(policy, { workspace, home, kind })
  return { boundary, noStance: undeclaredSections(policy, boundary) }
}

/**
 * `open`: sections in which anything may happen. In a cell there is none, because an omitted section grants nothing.
 */
const isReadOnly = ({ write, egressClass }: Boundary, open: readonly StanceSection[]): boolean =>
  write.every(({ negated }) => negated) &&
  egressClass.level !== 'write' &&
  !(['write', 'network', 'exec'] as const).some((section) => open.includes(section))
