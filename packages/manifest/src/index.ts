// @cordon/manifest: what a change of a manifest newly allows, for programs. `cordon manifest` is its command.
export { FINDINGS, FINDING_IDS, manifestJson, manifestOf, readManifest } from 'cordon/manifest'
export type { Finding, Manifest } from 'cordon/manifest'
export { canBeAccepted, isFailing, verify } from './verify/verify.js'
export type { Acceptance, Verification } from './verify/verify.js'
export { exfiltrations } from './flow/exfiltration.js'
export type { Exfiltration } from './flow/exfiltration.js'
