// What happened so far in one session of an agent, as a plain JSON value: it can be stored and
// given back later, and two sessions have nothing in common.
import { invalid, itemsOf, mappingOf, rootNode, textOf } from '../../policy/index.js'
import type { PolicyNode } from '../../policy/index.js'

export interface ToolCount {
  readonly tool: string
  readonly started: number
  readonly completed: number
}

export interface SessionCountState {
  readonly version: 1
  readonly tools: readonly ToolCount[]
  /** The tool started last and how often in a row; null before the first. */
  readonly last: { readonly tool: string; readonly times: number } | null
  /** Milliseconds since 1970; null before the first call. */
  readonly began_at: number | null
}

export const NEW_SESSION_COUNT: SessionCountState = { version: 1, tools: [], last: null, began_at: null }

const countOf = (state: SessionCountState, tool: string): ToolCount =>
  state.tools.find((count) => count.tool === tool) ?? { tool, started: 0, completed: 0 }

export const startedOf = (state: SessionCountState, tool: string): number => countOf(state, tool).started
export const completedOf = (state: SessionCountState, tool: string): number => countOf(state, tool).completed
export const startedInAll = (state: SessionCountState): number =>
  state.tools.reduce((sum, { started }) => sum + started, 0)
export const inARow = (state: SessionCountState, tool: string): number =>
  state.last?.tool === tool ? state.last.times : 0

export const withStarted = (state: SessionCountState, tool: string, now: number): SessionCountState => ({
  ...withCount(state, { ...countOf(state, tool), started: startedOf(state, tool) + 1 }),
  last: { tool, times: inARow(state, tool) + 1 },
  began_at: state.began_at ?? now,
})

export const withCompleted = (state: SessionCountState, tool: string): SessionCountState =>
  withCount(state, { ...countOf(state, tool), completed: completedOf(state, tool) + 1 })

const withCount = (state: SessionCountState, count: ToolCount): SessionCountState => ({
  ...state,
  tools: [...state.tools.filter(({ tool }) => tool !== count.tool), count],
})

/** Reads a stored state. What is not exactly one is refused: a lost count would be a new allowance. */
export const parseSessionCountState = (value: unknown, source: string): SessionCountState => {
  const node = rootNode(value, () => source)
  const { version, tools, last, began_at: beganAt } = mappingOf(node, ['version', 'tools', 'last', 'began_at'])
  if (version?.value !== 1) throw invalid(version ?? node, 'a state of version 1')
  const counts = itemsOf(required(node, tools, 'tools'), 'a list of counts').map(parseToolCount)
  if (new Set(counts.map(({ tool }) => tool)).size !== counts.length)
    throw invalid(node, 'a state with one count per tool')
  return {
    version: 1,
    tools: counts,
    last: last === undefined || last.value === null ? null : parseLast(last),
    began_at: beganAt === undefined || beganAt.value === null ? null : countIn(beganAt),
  }
}

const parseToolCount = (node: PolicyNode): ToolCount => {
  const { tool, started, completed } = mappingOf(node, ['tool', 'started', 'completed'])
  return {
    tool: textOf(required(node, tool, 'tool'), 'a tool name'),
    started: countIn(required(node, started, 'started')),
    completed: countIn(required(node, completed, 'completed')),
  }
}

const parseLast = (node: PolicyNode): SessionCountState['last'] => {
  const { tool, times } = mappingOf(node, ['tool', 'times'])
  return { tool: textOf(required(node, tool, 'tool'), 'a tool name'), times: countIn(required(node, times, 'times')) }
}

const required = (parent: PolicyNode, child: PolicyNode | undefined, key: string): PolicyNode => {
  if (child === undefined) throw invalid(parent, `a mapping with the key "${key}"`)
  return child
}

const countIn = (node: PolicyNode): number => {
  if (typeof node.value !== 'number' || !Number.isSafeInteger(node.value) || node.value < 0)
    throw invalid(node, 'a whole number of at least 0')
  return node.value
}
