// Reads parts of an agent's message. A part that is missing or has another type blocks the call.
import { fail } from '../errors/index.js'
import type { CordonError } from '../errors/index.js'
import type { JsonObject, JsonValue } from '../gate/index.js'
import { isMapping } from '../shapes/index.js'

export const unreadable = (agent: string, problem: string): CordonError =>
  fail('hook-input-unreadable', { agent, problem })

export const textIn = (message: JsonObject, key: string, agent: string): string => {
  const value = message[key]
  if (typeof value !== 'string' || value === '') throw unreadable(agent, `has no text "${key}"`)
  return value
}

export const mappingIn = (message: JsonObject, key: string, agent: string): JsonObject => {
  const value = message[key]
  if (!isMapping(value)) throw unreadable(agent, `has no object "${key}"`)
  return value
}

/** The tool and its input. The message must be about a call that has not run yet. */
export const toolCallIn = (
  message: JsonObject,
  wanted: string,
  agent: string,
  key = 'hook_event_name',
): { readonly tool: string; readonly input: JsonObject } => {
  const event = textIn(message, key, agent)
  if (event !== wanted)
    throw unreadable(agent, `is about ${JSON.stringify(event.slice(0, 60))}, and not about ${wanted}`)
  return { tool: textIn(message, 'tool_name', agent), input: mappingIn(message, 'tool_input', agent) }
}

/** A text, or every text of a list. Undefined for anything else. */
export const textOrTexts = (value: JsonValue | undefined): readonly string[] | undefined => {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
}
