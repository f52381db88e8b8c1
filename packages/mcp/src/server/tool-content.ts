// The result of a call as MCP has it.
import type { CordonError } from 'cordon/errors'
import type { JsonValue } from 'cordon/gate'
import { toModel } from 'cordon'
import type { ToolResult } from 'cordon'
import { isMapping, withoutUndefined } from 'cordon/shapes'

/** `CallToolResult` of the SDK. */
export interface ToolContent {
  readonly content: readonly JsonValue[]
  readonly structuredContent?: Readonly<Record<string, JsonValue>>
  readonly isError?: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
}

export const contentOf = (result: ToolResult): ToolContent => {
  if (result.status === 'ok' && isContent(result.output)) return ownContent(result.output)
  const { text, isError, structuredContent } = toModel(result)
  const { call_id: call, error } = result.facts
  return {
    content: [{ type: 'text', text }],
    ...withoutUndefined({ structuredContent }),
    ...(isError ? { isError, _meta: metaOf({ status: result.status, call, error: error?.code }) } : {}),
  }
}

/** Of a call that could not be decided at all. */
export const refusedContent = ({ agentMessage, code }: CordonError): ToolContent => ({
  content: [{ type: 'text', text: agentMessage }],
  isError: true,
  _meta: metaOf({ error: code }),
})

/** The keys by which Cordon tells of its decisions. A gateway of Cordon removes them, and sets its own. */
const metaOf = (facts: Readonly<Record<string, string | undefined>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(withoutUndefined(facts)).map(([name, value]) => [`cordon/${name}`, value]))

type OwnContent = Readonly<Record<string, JsonValue>> & { readonly content: readonly JsonValue[] }

/** A handler that was written for the SDK returns content itself. */
const isContent = (output: JsonValue): output is OwnContent =>
  isMapping(output) &&
  Array.isArray(output['content']) &&
  output['content'].every((part: unknown) => isMapping(part) && typeof part['type'] === 'string')

/** Only these fields: what ran in the cell must not speak for Cordon. */
const ownContent = ({ content, structuredContent, isError }: OwnContent): ToolContent => ({
  content,
  ...(isMapping(structuredContent) ? { structuredContent } : {}),
  ...(isError === true ? { isError } : {}),
})
