import type { Credential } from '../../policy/index.js'
import type { Body } from '../http/body.js'
import type { HeaderList } from '../http/header-list.js'
import type { ClientCertificate } from '../upstream/dial.js'

/** The parts of a request that a credential changes. */
export interface Draft {
  readonly method: string
  readonly authority: string
  readonly target: string
  readonly headers: HeaderList
  readonly body: Body | undefined
  readonly client: ClientCertificate | undefined
}

export interface Valued {
  readonly credential: Credential
  readonly value: string
}
