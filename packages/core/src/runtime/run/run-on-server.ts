import { bug, fail } from '../../errors/index.js'
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

/** Sends a permitted call to the server that has the tool. Its profile is that of the cell that takes it. */
export const runOnServer = async (
  { gate }: BoundTool,
  { name, server, policy }: ToolOfKind<'mcp'>,
  { input, signal, attachment, beforeStart }: PermittedCall,
): Promise<Execution> => {
  const { profile, scope, call, giveBack } = await server.instance()
  const wall = policy.limits.wall ?? DEFAULT_WALL_MS
  try {
    await beforeStart(undefined)
    const limited = limitedSignal(signal, wall)
    const began = monotonicMs()
    const reply = await call({ input, attachment, signal: limited.signal }).finally(limited.done)
    return {
      ...withoutProcess(began),
      ...endOf(name, input, reply, limited.isOver()),
      profile: {
        ...profile,
        scope,
        process_limits: { ...profile.process_limits, wall },
        enforced: {
          ...profile.enforced,
          'arguments': gate.argumentGate === 'enforced' ? ['argument-gate'] : [],
          // The call ends and the server gets a cancellation. The server may go on.
          'limits.wall': ['cancellation'],
        },
      },
    }
  } finally {
    giveBack()
  }
}

const endOf = (
  tool: string,
  input: JsonValue,
  reply: ServerReply,
  isOver: boolean,
): Pick<Execution, 'status' | 'output' | 'error'> => {
  const output = undefined
  switch (reply.kind) {
    case 'result':
      return reply.isError
        ? { status: 'failed', output: reply.result, error: toolFailed(tool, 'its result is an error', input) }
        : { status: 'ok', output: reply.result, error: undefined }
    case 'refused':
      return { status: 'failed', output, error: toolFailed(tool, reply.problem, input) }
    case 'lost':
      if (isOver) return { status: 'timeout', output, error: fail('tool-timed-out', { tool }) }
      return { status: reply.error.code === 'cancelled' ? 'cancelled' : 'failed', output, error: reply.error }
    default:
      return bug('a reply of an unknown kind')
  }
}
