// A call as the caller sees it. In the mode on_failure it may run a second time with a wider policy: what a tool was
// refused is added to its policy, and somebody is asked whether the call may run again with it.
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'

import { bug, CordonError } from '../../errors/index.js'
import type { GateCall } from '../../gate/index.js'
import { isReadable, isWithinPath, isWritable, parentOf, parseAbsolutePath, widenPolicy } from '../../policy/index.js'
import type { AbsolutePath, Boundary, Limits, MoreGrants } from '../../policy/index.js'
import { describeViolation, isHabit } from '../../sandbox/index.js'
import type { Violation } from '../../sandbox/index.js'

import type { CallHandlers } from '../call-outcome.js'
import { namedIn } from '../result/agent-words.js'
import type { ToolResult } from '../result/tool-result.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { ToolDefinition } from '../tools/tools.js'
import type { CallServices } from './call-services.js'
import { performCall } from './life-of-a-call.js'

/** Nobody can judge a longer list. Then a policy should be written. */
const MOST_ADDED = 32

export interface Widener {
  readonly bind: (definition: ToolDefinition) => BoundTool
  /** Own files of Cordon, which are never granted. */
  readonly withheld: readonly AbsolutePath[]
}

/**
 * The tool with the added grants, also in words for the approver. Undefined where no wider policy would help or may be
 * asked for: protected names and connections stay refused.
 */
const widerTool = (tool: BoundTool, violations: readonly Violation[], { bind, withheld }: Widener) => {
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
    if ('limit' in violation) {
      if (violation.kind !== 'wall') limits[violation.kind] = 2 * violation.limit
      continue
    }
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

/**
 * In the mode on_failure a call that met its boundary may run again with more, if somebody approves. `widenerNow` gives
 * a widener only in that mode, which may have changed since the call began.
 * The second attempt is a call of its own, with its own decision, permit and record.
 */
export const callTool = async (
  services: CallServices,
  call: GateCall,
  handlers: CallHandlers,
  widenerNow: () => Widener | undefined,
): Promise<ToolResult> => {
  const { result: first } = await performCall(services, call, handlers)
  const tool = services.tools.get(call.tool)
  const widener = widenerNow()
  if (widener === undefined || first.status !== 'violated' || tool === undefined || handlers.signal?.aborted === true)
    return first
  const { violations } = first.facts
  const wider = widerTool(
    tool,
    violations.filter((each) => !isHabit(each, [namedIn(call.input)])),
    widener,
  )
  if (wider === undefined) return first

  const refused = violations.slice(0, MOST_NAMED).map(describeViolation).join('; ')
  const retry: GateCall = {
    ...call,
    callId: randomUUID(),
    // Only this process has the wider policy, so this question cannot be suspended.
    mayAsk: services.approval !== undefined,
    widening: {
      after: 'violation',
      reason: `it ran and met its boundary (${refused}); to run again with ${wider.added.join(', ')}`,
      retryOf: call.callId,
      added: wider.added,
    },
  }
  const { result: second } = await performCall(services, retry, { ...handlers, ...HERE_AND_NOW }, wider.tool)
  const { permission_decision } = second.facts
  // Not approved: the first result stands, and its facts name the second decision.
  if (permission_decision.decision === 'deny' || second.status === 'denied')
    return { ...first, facts: { ...first.facts, retry: { call_id: retry.callId, permission_decision } } }
  return { ...second, facts: { ...second.facts, first_attempt: first.facts } }
}

const HERE_AND_NOW = { resume: undefined, isSuspending: false, resumed: undefined } as const

const MOST_NAMED = 5
