// The session of a server of the revisions up to 2025-11-25, as its headers have it.
import type { IncomingMessage } from 'node:http'

import { VERSION_HEADER } from '../http/mirrored-headers.js'
import { REVISIONS, SESSION_HEADER } from '../wire/era-2025.js'
import { textField } from '../wire/messages.js'
import type { Fields } from '../wire/messages.js'
import { HttpFailure } from './http-failure.js'

export interface HttpSession {
  /** Takes the id from the answer to `initialize`, if the server gives one. */
  readonly learnId: (response: IncomingMessage) => void
  /** Takes the result of `initialize`. */
  readonly begin: (result: Fields) => void
  /** For every request of this session. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly isOpen: () => boolean
  /** Whether the server says that it has no such session any more. */
  readonly isGone: (response: IncomingMessage) => boolean
}

export const createHttpSession = (): HttpSession => {
  let id: string | undefined
  let version: string | undefined
  return {
    learnId: ({ headers, statusCode }) => {
      const given = headers[SESSION_HEADER]
      if (statusCode !== 200 || given === undefined) return
      if (typeof given !== 'string' || !/^[!-~]{1,1024}$/.test(given))
        throw new HttpFailure('the server gave a session id that cannot be used')
      id = given
    },
    begin: ({ protocolVersion }) => {
      version = REVISIONS.has(textField(protocolVersion)) ? textField(protocolVersion) : undefined
    },
    headers: () => ({
      ...(id === undefined ? {} : { [SESSION_HEADER]: id }),
      ...(version === undefined ? {} : { [VERSION_HEADER]: version }),
    }),
    isOpen: () => id !== undefined,
    isGone: ({ statusCode }) => id !== undefined && statusCode === 404,
  }
}
