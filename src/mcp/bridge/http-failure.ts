// Why a request of the bridge has no answer of its server. The gateway reads it from the data of an error.
import { RPC_ERRORS, errorOf, fieldsOf, textOf } from '../wire/messages.js'
import type { Fields, MessageId } from '../wire/messages.js'

export class HttpFailure extends Error {
  /** What the server says about its authentication (`WWW-Authenticate`), if it refused the request for want of it. */
  readonly challenge: string | undefined

  constructor(message: string, challenge?: string) {
    super(message)
    this.name = 'HttpFailure'
    this.challenge = challenge
  }
}

/** A server can write this key too. It says no more than that its own answer failed. */
const KEY = 'bridge'

export const failureAnswer = (id: MessageId, { message, challenge }: HttpFailure): Fields =>
  errorOf(id, RPC_ERRORS.refused, message, {
    [KEY]: { problem: message, ...(challenge === undefined ? {} : { challenge }) },
  })

export interface ReportedFailure {
  readonly problem: string
  readonly challenge: string | undefined
}

const LONGEST = 2_000

/** Undefined if an answer is not one of `failureAnswer`. */
export const failureIn = ({ error }: Fields): ReportedFailure | undefined => {
  const { problem, challenge } = fieldsOf(fieldsOf(fieldsOf(error)['data'])[KEY])
  if (typeof problem !== 'string') return undefined
  const short = (text: string): string => text.replaceAll(/[^ -~]+/g, ' ').slice(0, LONGEST)
  return { problem: short(problem), challenge: challenge === undefined ? undefined : short(textOf(challenge)) }
}
