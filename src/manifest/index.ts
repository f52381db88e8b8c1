export { MANIFEST_FORMAT, manifestShape } from './manifest.js'
export type {
  Manifest,
  ManifestAgent,
  ManifestContent,
  ManifestRule,
  ManifestServer,
  ManifestTool,
} from './manifest.js'
export { manifestJson, manifestOf, readManifest } from './manifest-text.js'
export { policyValue } from './policy-value.js'
export { FINDINGS, FINDING_IDS } from './verify/finding.js'
export type { Finding, Severity } from './verify/finding.js'
export type { Sentence } from './verify/sentence.js'
export { canBeAccepted, isFailing, verify } from './verify/verify.js'
export type { Acceptance, Verification } from './verify/verify.js'
