// The counts of one session, as a plain JSON value that can be stored and read back.
import { countOf, invalid, itemsOf, mappingOf, required, rootNode, textOf } from '../../policy/index.js'
import type { PolicyNode } from '../../policy/index.js'

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

export const toolCountOf = (state: SessionCountState, tool: string): ToolCount =>
  state.tools.find((count) => count.tool === tool) ?? { tool, started: 0, completed: 0 }

export const startedInAll = (state: SessionCountState): number =>
  state.tools.reduce((sum, { started }) => sum + started, 0)
export const inARow = (state: SessionCountState, tool: string): number =>
  state.last?.tool === tool ? state.last.times : 0

export const withStarted = (state: SessionCountState, tool: string, now: number): SessionCountState => ({
  ...withOneMore(state, tool, 'started'),
  last: { tool, times: inARow(state, tool) + 1 },
  began_at: state.began_at ?? now,
})

export const withCompleted = (state: SessionCountState, tool: string): SessionCountState =>
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
    tool: textOf(required(node, given, 'tool'), 'a tool name'),
    started: countOf(required(node, given, 'started')),
    completed: countOf(required(node, given, 'completed')),
  }
}

const parseLast = (node: PolicyNode): SessionCountState['last'] => {
  const given = mappingOf(node, ['tool', 'times'])
  return {
    tool: textOf(required(node, given, 'tool'), 'a tool name'),
    times: countOf(required(node, given, 'times')),
  }
}
