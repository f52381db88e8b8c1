// `cordon hook AGENT`: reads the agent's message, decides, and answers. Whatever goes wrong blocks the call: agents
// take exit status 2 with a text on stderr for a block, and most of them run the tool after any other failure.
import { CordonError, fail, messageOf } from '../errors/index.js'
import { readBoundedJson } from '../gate/index.js'
import type { JsonObject } from '../gate/index.js'
import { isMapping } from '../shapes/index.js'

import type { CommandLine } from '../line/caller.js'
import { STDERR, STDOUT, oneLine, writeFully } from '../line/text/console-text.js'
import { undecided } from '../run/facts.js'
import { recordRefusal } from '../run/record.js'
import { NotServed } from '../run/run-seat.js'
import type { Agent, AgentCall, Answer } from './agent.js'
import { decide } from './decide.js'
import { OWN_SEAT } from './hook-seat.js'
import type { HookSeat } from './hook-seat.js'
import { OWN_SECONDS, commandWords } from './installed-command.js'
import { unreadable } from './message.js'

/** Larger than any message with a file that an agent writes. */
const LIMITS = { bytes: 32 * 1024 * 1024, elements: 1_000_000, depth: 200 }

const BLOCKED = 2

export const answerHook = async (agent: Agent, line: CommandLine): Promise<number> => {
  // Also for errors that no promise carries, and for work that never ends.
  process.once('uncaughtException', (error) => {
    process.exit(send(blockedBy(error)))
  })
  const timer = setTimeout(() => {
    process.exit(send(TOO_SLOW))
  }, OWN_SECONDS * 1000)
  try {
    return send(await answerMessage(agent, line, bytesOf(process.stdin), OWN_SEAT))
  } finally {
    clearTimeout(timer)
    process.stdin.destroy()
  }
}

/** What the agent gets to read. Throws only `NotServed`. */
export const answerMessage = async (
  agent: Agent,
  line: CommandLine,
  bytes: Promise<Buffer | undefined>,
  seat: HookSeat,
): Promise<Answer> => {
  let call: AgentCall | undefined
  try {
    const message = readMessage(agent, await bytes)
    call = agent.parse(message, line.environment)
    const verdict = await decide({ ...line, agent, call, message, seat })
    return agent.answer(verdict, message)
  } catch (error) {
    if (error instanceof NotServed) throw error
    // It is blocked either way.
    await recordBlock(agent, call, error, line, seat).catch(() => undefined)
    return blockedBy(error)
  }
}

/** An answer that cannot be written is no answer. */
const send = ({ stdout, stderr, status }: Answer): number => {
  writeFully(STDERR, Buffer.from(stderr))
  return writeFully(STDOUT, Buffer.from(stdout)) ? status : BLOCKED
}

const blockedBy = (error: unknown): Answer => {
  const [what, fix] =
    error instanceof CordonError
      ? [`${error.code}: ${error.message}`, error.fix]
      : [`bug: ${messageOf(error)}`, 'report it; to work without Cordon: cordon hook uninstall AGENT']
  const lines = [`cordon: ${what}`, ...(fix === undefined || fix === '' ? [] : [`fix: ${fix}`])]
  return { stdout: '', stderr: `${lines.map(oneLine).join('\n')}\n`, status: BLOCKED }
}

const TOO_SLOW = blockedBy(fail('hook-too-slow', { seconds: OWN_SECONDS }))

/** Records a call that the hook blocked before the gate could judge it. */
const recordBlock = (
  agent: Agent,
  call: AgentCall | undefined,
  error: unknown,
  line: CommandLine,
  { openLog }: HookSeat,
): Promise<void> => {
  const words = call?.action.kind === 'shell' ? commandWords(call.action.command) : [call?.tool ?? 'an unknown tool']
  const given = { ...line.given, rest: ['cordon', 'hook', agent.name, ...words] }
  return recordRefusal(undecided(error, undefined, 'default', false), error, { ...line, given }, openLog)
}

/** Undefined if it is too large. */
const bytesOf = async (input: NodeJS.ReadableStream): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of input) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).byteLength
    if (size > LIMITS.bytes) return undefined
  }
  return Buffer.concat(chunks)
}

const readMessage = (agent: Agent, bytes: Buffer | undefined): JsonObject => {
  if (bytes === undefined) throw unreadable(agent.name, `is larger than ${String(LIMITS.bytes)} bytes`)
  const read = readBoundedJson(bytes, LIMITS, 'unique')
  if (read.kind !== 'json') throw unreadable(agent.name, read.problem)
  if (!isMapping(read.value)) throw unreadable(agent.name, 'is not an object')
  return read.value
}
