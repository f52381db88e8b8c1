export { MANIFEST_FORMAT, agentsShape, manifestShape } from './manifest.js'
export type {
  Manifest,
  ManifestAgent,
  ManifestContent,
  ManifestRule,
  ManifestServer,
  ManifestTool,
} from './manifest.js'
export { manifestJson, manifestOf, manifestYaml, readManifest } from './manifest-text.js'
export { portableGlob, portablePath, portablePolicy } from './portable.js'
export type { ProjectPlaces } from './portable.js'
export { policyValue } from './policy-value.js'
export { FINDINGS, FINDING_IDS } from './verify/finding.js'
export type { Finding, Severity } from './verify/finding.js'
export type { Sentence } from './verify/sentence.js'
export { canBeAccepted, isFailing, verify } from './verify/verify.js'
export type { Acceptance, Verification } from './verify/verify.js'
export { exfiltrations } from './flow/exfiltration.js'
export type { Exfiltration } from './flow/exfiltration.js'
export { cutSentence, exfiltrationSentence } from './flow/exfiltration-text.js'
export { isNewOrGrown } from './flow/grown-flow.js'
export { toolRows } from './inspect/overview.js'
export type { ToolRow } from './inspect/overview.js'
