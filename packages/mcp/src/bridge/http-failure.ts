// Why a request of the bridge has no answer of its server. The gateway reads it from the data of an error.
import { RPC_ERRORS, errorOf, fieldsOf } from '../wire/messages.js'
import type { Fields, MessageId } from '../wire/messages.js'

export class HttpFailure extends Error {
  /** Whether the server refused the request for want of a login. */
  readonly isLoginWanted: boolean

  constructor(message: string, isLoginWanted = false) {
    super(message)
    this.name = 'HttpFailure'
    this.isLoginWanted = isLoginWanted
  }
}

/** A server can write this key too. It says no more than that its own answer failed. */
const KEY = 'bridge'

export const failureAnswer = (id: MessageId, { message, isLoginWanted }: HttpFailure): Fields =>
  errorOf(id, RPC_ERRORS.refused, message, { [KEY]: { problem: message, isLoginWanted } })

const LONGEST = 2_000

/** Undefined if an answer is not one of `failureAnswer`. */
export const failureIn = ({
  error,
}: Fields): { readonly problem: string; readonly isLoginWanted: boolean } | undefined => {
  const { problem, isLoginWanted } = fieldsOf(fieldsOf(fieldsOf(error)['data'])[KEY])
  if (typeof problem !== 'string') return undefined
  return { problem: problem.replaceAll(/[^ -~]+/g, ' ').slice(0, LONGEST), isLoginWanted: isLoginWanted === true }
}
