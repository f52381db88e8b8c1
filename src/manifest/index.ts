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
