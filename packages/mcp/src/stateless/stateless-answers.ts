// What clients of revision 2026-07-28 are answered.
import { canonicalJson } from 'cordon/gate'
import type { JsonValue } from 'cordon/gate'
import { isMapping } from 'cordon/shapes'

import { LISTS, METHODS, REMOVED, REVISIONS } from '../wire/era-2025.js'
import { STATELESS_ERRORS, STATELESS_REVISION, completeResult, withoutAnswers } from '../wire/era-2026.js'
import type { RequestClient } from '../wire/era-2026.js'
import { RPC_ERRORS, errorOf, fieldsOf, paramsOf } from '../wire/messages.js'
import type { Fields, MessageId, RequestMessage } from '../wire/messages.js'

/** What the gateway speaks, the newest first. */
export const SPOKEN_REVISIONS: readonly string[] = [STATELESS_REVISION, ...[...REVISIONS].sort().reverse()]

/** The error for a request that does not say who asks. */
export const withoutClientError = (id: MessageId, { version, capabilities }: RequestClient): Fields | undefined =>
  version === undefined || !isMapping(capabilities)
    ? errorOf(id, RPC_ERRORS.invalidParams, '_meta has no protocol version or no client capabilities')
    : undefined

/** The error for a request that does not follow this revision. */
export const refusalOf = (id: MessageId, method: string, client: RequestClient): Fields | undefined => {
  const { version } = client
  const withoutClient = withoutClientError(id, client)
  if (withoutClient !== undefined) return withoutClient
  if (version !== STATELESS_REVISION)
    return errorOf(id, STATELESS_ERRORS.unsupportedVersion, 'Unsupported protocol version', {
      supported: SPOKEN_REVISIONS,
      requested: version,
    })
  return REMOVED.has(method)
    ? errorOf(id, RPC_ERRORS.unknownMethod, `there is no ${method} in this revision`)
    : undefined
}

/** The code that revisions before this one have for a resource that is not there. */
const NO_RESOURCE = -32002

/** An answer of the gateway, as this revision has it. */
export const statelessAnswer = (answer: Fields, id: MessageId, method: string): Fields => {
  const error = fieldsOf(answer['error'])
  if ('error' in answer)
    return {
      ...answer,
      id,
      error: error['code'] === NO_RESOURCE ? { ...error, code: RPC_ERRORS.invalidParams } : error,
    }
  const isCacheable = method in LISTS || method === METHODS.readResource
  return { ...answer, id, result: completeResult(fieldsOf(answer['result']), isCacheable) }
}

/** Whether two requests have the same method and params. Their `_meta` may differ. */
export const isSameRequest = (first: RequestMessage, again: RequestMessage): boolean =>
  first.method === again.method && contentOf(first) === contentOf(again)

const contentOf = (request: RequestMessage): string => {
  const { _meta, ...params } = withoutAnswers(paramsOf(request))
  return canonicalJson(params as JsonValue)
}
