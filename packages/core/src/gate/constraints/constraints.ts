// The limits of tools and sessions, and the counts that calls are compared with.
import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { countOf, flagOf, invalid, itemsOf, mappingOf, required, rootNode, nodeText } from '../../policy/index.js'
import type { PolicyNode } from '../../policy/index.js'

/** When and how often a tool may run within one session. An omitted limit is not set. */
export interface Constraints {
  readonly maxInvocations?: number
  /** All of these tools must have completed before. */
  readonly onlyAfter: readonly string[]
  /** For code of the host only. A model may not call it. */
  readonly forbidden: boolean
}

/** As people write it. */
export type ConstraintsInput = Partial<Constraints>

export const UNCONSTRAINED: Constraints = { onlyAfter: [], forbidden: false }

export const parseConstraints = (value: unknown, source: string): Constraints => {
  const node = rootNode(value, () => source, 'the constraints')
  const { maxInvocations, onlyAfter, forbidden } = mappingOf(node, ['maxInvocations', 'onlyAfter', 'forbidden'])
  return {
    ...(maxInvocations === undefined ? {} : { maxInvocations: countOf(maxInvocations) }),
    onlyAfter:
      onlyAfter === undefined
        ? []
        : [...new Set(itemsOf(onlyAfter, 'a list of tool names').map((item) => nodeText(item, 'a tool name')))],
    forbidden: forbidden !== undefined && flagOf(forbidden),
  }
}

/** The denial of a call by the constraints of its tool, if any. */
const constraintDenial = (
  tool: string,
  { forbidden, maxInvocations, onlyAfter }: Constraints,
  state: SessionCountState,
): CordonError | undefined => {
  if (forbidden) return fail('tool-forbidden', { tool })
  if (maxInvocations !== undefined && toolCountOf(state, tool).started >= maxInvocations)
    return fail('tool-exhausted', { tool, limit: maxInvocations })
  const missing = onlyAfter.filter((name) => toolCountOf(state, name).completed === 0)
  return missing.length === 0 ? undefined : fail('tool-too-early', { tool, missing: missing.join(', ') })
}

// The counts of one session are a plain JSON value that can be stored and read back.

interface ToolCount {
  readonly tool: string
  readonly started: number
  readonly completed: number
}

export interface SessionCountState {
  readonly version: 1
  readonly tools: readonly ToolCount[]
  /** The tool that started last, and how often in a row. Null before the first call. */
  readonly last: { readonly tool: string; readonly times: number } | null
  /** Milliseconds since 1970. Null before the first call. */
  readonly began_at: number | null
}

export const NEW_SESSION_COUNT: SessionCountState = { version: 1, tools: [], last: null, began_at: null }

const toolCountOf = (state: SessionCountState, tool: string): ToolCount =>
  state.tools.find((count) => count.tool === tool) ?? { tool, started: 0, completed: 0 }

const startedInAll = (state: SessionCountState): number => state.tools.reduce((sum, { started }) => sum + started, 0)
const inARow = (state: SessionCountState, tool: string): number => (state.last?.tool === tool ? state.last.times : 0)

const withStarted = (state: SessionCountState, tool: string, now: number): SessionCountState => ({
  ...withOneMore(state, tool, 'started'),
  last: { tool, times: inARow(state, tool) + 1 },
  began_at: state.began_at ?? now,
})

const withCompleted = (state: SessionCountState, tool: string): SessionCountState =>
  withOneMore(state, tool, 'completed')

const withOneMore = (state: SessionCountState, name: string, key: 'started' | 'completed'): SessionCountState => {
  const count = toolCountOf(state, name)
  return { ...state, tools: [...state.tools.filter(({ tool }) => tool !== name), { ...count, [key]: count[key] + 1 }] }
}

/** Reads a stored state. Anything else is refused, because a lost count would allow more calls. */
export const parseSessionCountState = (value: unknown, source: string): SessionCountState => {
  const node = rootNode(value, () => source)
  const given = mappingOf(node, ['version', 'tools', 'last', 'began_at'])
  const { version, last, began_at: beganAt } = given
  if (version?.value !== 1) throw invalid(version ?? node, 'a state of version 1')
  const counts = itemsOf(required(node, given, 'tools'), 'a list of counts').map(parseToolCount)
  if (new Set(counts.map(({ tool }) => tool)).size !== counts.length)
    throw invalid(node, 'a state with one count per tool')
  return {
    version: 1,
    tools: counts,
    last: last === undefined || last.value === null ? null : parseLast(last),
    began_at: beganAt === undefined || beganAt.value === null ? null : countOf(beganAt),
  }
}

const parseToolCount = (node: PolicyNode): ToolCount => {
  const given = mappingOf(node, ['tool', 'started', 'completed'])
  return {
    tool: nodeText(required(node, given, 'tool'), 'a tool name'),
    started: countOf(required(node, given, 'started')),
    completed: countOf(required(node, given, 'completed')),
  }
}

const parseLast = (node: PolicyNode): SessionCountState['last'] => {
  const given = mappingOf(node, ['tool', 'times'])
  return {
    tool: nodeText(required(node, given, 'tool'), 'a tool name'),
    times: countOf(required(node, given, 'times')),
  }
}

/** The limits of one session. An omitted limit is not set. */
export interface SessionBudget {
  readonly toolCalls?: number
  readonly sameToolInARow?: number
  readonly argumentBytes?: number
  /** Milliseconds from the first call. */
  readonly duration?: number
}

interface PlannedCall {
  readonly tool: string
  readonly constraints: Constraints
  readonly argumentBytes: number
}

/** The running count of one session. It is the only mutable value of this room. */
export interface SessionCount {
  readonly denial: (call: PlannedCall, now: number) => CordonError | undefined
  /** Checks once more and counts, in one step: of two concurrent calls only one gets the last place. */
  readonly begin: (call: PlannedCall, now: number) => CordonError | undefined
  readonly complete: (tool: string) => void
  readonly state: () => SessionCountState
}

export const createSessionCount = ({
  state: initial = NEW_SESSION_COUNT,
  budget = {},
}: { readonly state?: SessionCountState; readonly budget?: SessionBudget } = {}): SessionCount => {
  let state = initial
  const denial: SessionCount['denial'] = (call, now) =>
    constraintDenial(call.tool, call.constraints, state) ?? budgetDenial(call, budget, state, now)
  return {
    denial,
    begin: (call, now) => {
      const denied = denial(call, now)
      if (denied === undefined) state = withStarted(state, call.tool, now)
      return denied
    },
    complete: (tool) => {
      state = withCompleted(state, tool)
    },
    state: () => state,
  }
}

const budgetDenial = (
  { tool, argumentBytes }: PlannedCall,
  budget: SessionBudget,
  state: SessionCountState,
  now: number,
): CordonError | undefined => {
  const over = (text: string) => fail('budget-exhausted', { tool, budget: text })
  const { toolCalls = Infinity, sameToolInARow = Infinity, argumentBytes: mostBytes = Infinity } = budget
  const { duration = Infinity } = budget
  if (startedInAll(state) >= toolCalls) return over(`${toolCalls} tool calls`)
  if (inARow(state, tool) >= sameToolInARow) return over(`the same tool ${sameToolInARow} times in a row`)
  if (argumentBytes > mostBytes) return over(`${mostBytes} bytes of arguments`)
  return now - (state.began_at ?? now) > duration ? over(`${duration} ms`) : undefined
}
