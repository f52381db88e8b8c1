// For the mode on_failure: adds what a tool was refused to its policy, and somebody is asked whether the call may run
// again with it.
import { existsSync } from 'node:fs'

import { CordonError, bug } from '../../errors/index.js'
import { isReadable, isWithinPath, isWritable, parentOf, parseAbsolutePath, widenPolicy } from '../../policy/index.js'
import type { AbsolutePath, Boundary, Limits, MoreGrants } from '../../policy/index.js'
import type { Violation } from '../../sandbox/index.js'

import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolDefinition } from '../tools/tools.js'

export interface WiderTool {
  readonly tool: BoundTool
  /** The added grants, in words for the approver. */
  readonly added: readonly string[]
}

/** Nobody can judge a longer list. Then a policy should be written. */
const MOST_ADDED = 32

export interface Widener {
  readonly bind: (definition: ToolDefinition) => BoundTool
  /** Own files of Cordon, which are never granted. */
  readonly withheld: readonly AbsolutePath[]
}

/** Undefined where no wider policy would help or may be asked for: protected names and connections stay refused. */
export const widerTool = (
  tool: BoundTool,
  violations: readonly Violation[],
  { bind, withheld }: Widener,
): WiderTool | undefined => {
  const more = without(withheld, grantsFor(violations, tool.gate.boundary))
  const added = wordsFor(more)
  if (added.length === 0 || added.length > MOST_ADDED) return undefined
  try {
    const wider = {
      ...bind({ ...tool.definition, policy: widenPolicy(tool.definition.policy, more) }),
      isWidened: true,
    }
    return helps(more, wider.gate.boundary) ? { tool: wider, added } : undefined
  } catch (error) {
    // Some files are never granted, such as the audit log.
    if (error instanceof CordonError) return undefined
    throw error
  }
}

const grantsFor = (violations: readonly Violation[], { exec }: Boundary): MoreGrants => {
  const read = new Set<AbsolutePath>()
  const write = new Set<AbsolutePath>()
  const programs = new Set<AbsolutePath>()
  const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = {}
  for (const violation of violations) {
    switch (violation.kind) {
      case 'file':
        if (violation.reason.kind === 'protected') break
        if (violation.access === 'write') addPath(write, existing(violation.path))
        else if (existsSync(violation.path)) addPath(read, violation.path)
        break
      case 'metadata':
        addPath(write, existing(violation.path))
        break
      case 'exec':
        if (exec.kind !== 'all') addPath(programs, violation.path)
        break
      case 'memory':
      case 'processes':
      case 'cpu':
      case 'output':
      case 'scratch':
      case 'fileSize':
        limits[violation.kind] = 2 * violation.limit
        break
      case 'wall':
      case 'connect':
      case 'listen':
      case 'lookup':
      case 'egress':
      case 'protected':
      case 'unsealed':
        break
      default:
        bug(`a violation that nobody thought of: ${JSON.stringify(violation satisfies never)}`)
    }
  }
  return { read: [...read], write: [...write], exec: [...programs], limits }
}

const without = (withheld: readonly AbsolutePath[], { read, write, exec, limits }: MoreGrants): MoreGrants => {
  const given = (path: AbsolutePath) =>
    !withheld.some((folder) => isWithinPath(path, folder) || isWithinPath(folder, path))
  return { read: read.filter(given), write: write.filter(given), exec: exec.filter(given), limits }
}

const addPath = (paths: Set<AbsolutePath>, path: string): void => {
  try {
    paths.add(parseAbsolutePath(path))
  } catch (error) {
    // A name that is no path cannot be granted.
    if (!(error instanceof CordonError)) throw error
  }
}

/** A file that does not exist cannot be granted. To make it, a tool needs its folder. */
const existing = (path: string): string => (existsSync(path) ? path : parentOf(path as AbsolutePath))

const wordsFor = ({ read, write, exec, limits }: MoreGrants): readonly string[] => [
  ...read.map((path) => `filesystem.read ${path}`),
  ...write.map((path) => `filesystem.write ${path}`),
  ...exec.map((path) => `exec ${path}`),
  ...Object.entries(limits).map(([name, limit]) => `limits.${name} ${limit}`),
]

/** A carve-out may still take away every added path. */
const helps = ({ read, write, exec, limits }: MoreGrants, boundary: Boundary): boolean =>
  exec.length > 0 ||
  Object.keys(limits).length > 0 ||
  read.some((path) => isReadable(boundary, path)) ||
  write.some((path) => isWritable(boundary, path))
