import type { Environment } from 'cordon/commands'
import type { Verification } from '../verify/verify.js'

export interface Report extends Verification {
  /** As the user named it. */
  readonly baseline: string
  readonly hash: string
  /** For findings without a place in the code. */
  readonly manifestFile: string
  readonly environment: Environment
}
