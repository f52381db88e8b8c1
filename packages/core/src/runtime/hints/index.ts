export { fixOfFailure, isUngranted, namedPaths } from './failure-fix.js'
export type { NamedPath } from './failure-fix.js'
export { isOfImage, pathToGrant, policyAdvice, policyLines } from './policy-lines.js'
