/// <reference types="node" preserve="true" />
export type { EgressCall } from './admitted-call.js'
export { createTlsAuthority } from './authority/tls-authority.js'
export type { TlsAuthority } from './authority/tls-authority.js'
export type { CallRights } from './call.js'
export { readSecret } from './credentials/read-secret.js'
export type { Logins, SecretHost } from './credentials/read-secret.js'
export { exposedSource, exposedValue, variableOf } from './credentials/exposed-secret.js'
export type { ExposedSecret } from './credentials/exposed-secret.js'
export { parseSecretSource } from './credentials/secret-source.js'
export type { SecretSource } from './credentials/secret-source.js'
export { SECRET_MARGIN, createSecretStore } from './credentials/secret-store.js'
export type { SecretStore, SecretStoreSettings } from './credentials/secret-store.js'
export type { VaultAccess } from './credentials/vault.js'
export { createEgress } from './egress.js'
export type { Egress, EgressSettings } from './egress.js'
export { createOwnRequests, isThisMachine } from './own-requests.js'
export type { OwnRequestSettings, SendOwn } from './own-requests.js'
export type {
  ConnectionClosed,
  ConnectionEvent,
  ConnectionOpened,
  EgressEvent,
  EgressViolation,
  RecordEvent,
  RequestDone,
  ViolationSeen,
} from './record.js'
export { SHORTEST_SECRET } from './redaction/needles.js'
export type { Denial, DenialReason } from './rules/denial.js'
export { problemOfCertificates } from './upstream/authorities.js'
export type { Resolve } from './upstream/resolve.js'
