import { bug, fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import type { JsonValue } from '../../gate/index.js'
import { monotonicMs } from '../../shapes/index.js'

import type { PermittedCall } from '../call/call-services.js'
import { toolFailed } from '../result/agent-words.js'
import type { Execution } from '../result/tool-result.js'
import type { BoundTool } from '../tools/bound-tool.js'
import type { ServerReply, ToolOfKind } from '../tools/tools.js'
import { limitedSignal, withoutProcess } from './run-in-process.js'

/** A server that never answers must not keep its caller waiting for ever. */
const DEFAULT_WALL_MS = 10 * 60_000

type ServerTool = Extract<ToolDefinition, { kind: 'mcp' }>

/**
 * Sends a permitted call to the server that has the tool. The server stays in its own cell, so the profile of the call
 * is that of the server, and says that the grants of all its tools hold there.
 */
export const runOnServer = async (
  { gate }: BoundTool,
  { name, server, policy }: ServerTool,
  { input, signal, attachment, beforeStart }: PermittedCall,
): Promise<Execution> => {
  const held = server.profile()
  if (held === undefined) throw fail('mcp-server-ended', { server: server.name, how: 'it does not run' })
  await beforeStart(undefined)
  const wall = policy.limits.wall ?? DEFAULT_WALL_MS
  const limited = limitedBy(wall, signal)
  const began = monotonicMs()
  const reply = await server.call({ input, attachment, signal: limited.signal }).finally(limited.done)
  return {
    ...endOf(name, input, reply, limited.isOver()),
    profile: {
      ...held,
      scope: 'server',
      process_limits: { ...held.process_limits, wall },
      enforced: {
        ...held.enforced,
        'arguments': gate.argumentGate === 'enforced' ? ['argument-gate'] : [],
        // The call ends, and the server is told. It may go on.
        'limits.wall': ['cancellation'],
      },
    },
    violations: [],
    usage: { wallMs: monotonicMs() - began, cpuMs: 0, maxResidentBytes: 0, peakMemoryBytes: undefined },
    writtenBytes: null,
    printed: '',
    ending: null,
  }
}

const endOf = (
  tool: string,
  input: JsonValue,
  reply: ServerReply,
  isOver: boolean,
): Pick<Execution, 'status' | 'output' | 'error'> => {
  switch (reply.kind) {
    case 'result':
      return reply.isError
        ? { status: 'failed', output: reply.result, error: toolFailed(tool, 'its result is an error', input) }
        : { status: 'ok', output: reply.result, error: undefined }
    case 'refused':
      return { status: 'failed', output: undefined, error: toolFailed(tool, reply.problem, input) }
    case 'lost':
      if (isOver) return { status: 'timeout', output: undefined, error: fail('tool-timed-out', { tool }) }
      return { status: statusOf(reply.error), output: undefined, error: reply.error }
    default:
      return bug('a reply of an unknown kind')
  }
}

const statusOf = ({ code }: CordonError): Execution['status'] => (code === 'cancelled' ? 'cancelled' : 'failed')

/** A signal that also aborts after the time limit of a tool. */
const limitedBy = (wall: number, signal: AbortSignal | undefined) => {
  const both = new AbortController()
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    both.abort()
  }, wall)
  const pass = () => {
    both.abort()
  }
  if (signal?.aborted === true) pass()
  signal?.addEventListener('abort', pass, { once: true })
  const done = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', pass)
  }
  return { signal: both.signal, isOver: () => isOver, done }
}
