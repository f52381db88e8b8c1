// Asks the user of the client whether a call may run, by an elicitation of Cordon itself.
import type { ApprovalAnswer, JsonValue } from 'cordon/gate'
import type { Approve } from 'cordon'

import { ELICIT, approvalQuestion, approvalWord } from '../wire/era-2025.js'
import type { Fields } from '../wire/messages.js'

export interface ClientUser {
  readonly by: () => string
  readonly canBeAsked: () => boolean
  /** The result, or undefined if there is none. */
  readonly ask: (method: string, params: Fields, signal: AbortSignal) => Promise<Fields | undefined>
}

export const approveByClient =
  (user: ClientUser): Approve =>
  async ({ tool, input, reason }, { signal }) => {
    const by = user.by()
    if (!user.canBeAsked()) return { kind: 'deny', by, reason: 'this client cannot ask its user' }
    const { method, params } = approvalRequest(tool, input, reason)
    return approvalAnswer(await user.ask(method, params, signal), by)
  }

export const approvalRequest = (
  tool: string,
  input: JsonValue,
  reason: string,
): { readonly method: string; readonly params: Fields } => {
  const question = [`Cordon asks: may the tool "${tool}" be called?`, shown(input), `Why it is asked: ${reason}`]
  return { method: ELICIT, params: approvalQuestion(question.join('\n')) }
}

export const approvalAnswer = (result: Fields | undefined, by: string): ApprovalAnswer => {
  switch (approvalWord(result)) {
    case 'once':
      return { kind: 'approve_once', by }
    case 'session':
      return { kind: 'approve_for_scope', by }
    default:
      return { kind: 'deny', by, reason: 'the user of the client did not approve it' }
  }
}

const MOST_SHOWN = 4_000

/** The arguments on one line, without characters that hide or move text. */
const shown = (input: JsonValue): string => {
  const text = JSON.stringify(input).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
  return text.length <= MOST_SHOWN
    ? `Arguments: ${text}`
    : `Arguments (${text.length} characters, the first ${MOST_SHOWN} are shown): ${text.slice(0, MOST_SHOWN)}`
}
