export { REVIEW, manifestOf, readManifestOption } from './hold-tools.js'
export type { GivenManifest } from './hold-tools.js'
export { MANIFEST_KEY_FILE, readManifestKey } from './manifest-key.js'
