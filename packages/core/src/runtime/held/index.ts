export { MANIFEST_KEY_FILE, manifestOf, readManifestKey, readManifestOption, REVIEW } from './hold-tools.js'
export type { GivenManifest } from './hold-tools.js'
