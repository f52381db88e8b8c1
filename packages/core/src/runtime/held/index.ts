export { MANIFEST_KEY_FILE, manifestReference, readManifestKey, readManifestOption, REVIEW } from './hold-tools.js'
export type { GivenManifest } from './hold-tools.js'
