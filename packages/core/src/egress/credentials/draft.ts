import type { Credential } from '../../policy/index.js'
import type { ClientCertificate } from '../upstream/dial.js'
import type { OutgoingRequest } from '../upstream/transport.js'

/** The parts of a request that a credential changes. */
export interface RequestDraft extends Pick<OutgoingRequest, 'method' | 'authority' | 'target' | 'headers' | 'body'> {
  readonly client: ClientCertificate | undefined
}

export interface CredentialValue {
  readonly credential: Credential
  readonly value: string
}
