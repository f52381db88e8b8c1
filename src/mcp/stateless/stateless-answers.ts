// What clients of revision 2026-07-28 are answered.
import { canonicalJson } from '../../gate/index.js'
import type { JsonValue } from '../../gate/index.js'
import { isMapping } from '../../shapes/index.js'

import { LISTS, METHODS, REMOVED, REVISIONS } from '../wire/era-2025.js'
import { STATELESS_ERRORS, STATELESS_REVISION, completed, withoutAnswers } from '../wire/era-2026.js'
import type { RequestClient } from '../wire/era-2026.js'
import { RPC_ERRORS, errorOf, fieldsOf, paramsOf } from '../wire/messages.js'
import type { Fields, MessageId, RequestMessage } from '../wire/messages.js'

/** What the gateway speaks, the newest first. */
export const SPOKEN_REVISIONS: readonly string[] = [STATELESS_REVISION, ...[...REVISIONS].sort().reverse()]

/** Why a request is no request of this revision. */
export const refusalOf = (
  id: MessageId,
  method: string,
  { version, capabilities }: RequestClient,
): Fields | undefined => {
  if (version === undefined || !isMapping(capabilities))
    return errorOf(id, RPC_ERRORS.invalidParams, '_meta has no protocol version or no client capabilities')
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
  return { ...answer, id, result: completed(fieldsOf(answer['result']), isCacheable) }
}

/** Whether a request asks what another one did. Who asks may have changed. */
export const isSameRequest = (first: RequestMessage, again: RequestMessage): boolean =>
  first.method === again.method && contentOf(first) === contentOf(again)

const contentOf = (request: RequestMessage): string => {
  const { _meta, ...params } = withoutAnswers(paramsOf(request))
  return canonicalJson(params as JsonValue)
}
