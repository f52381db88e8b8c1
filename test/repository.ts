// The folders that tests name.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const REPOSITORY = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const PACKAGES = join(REPOSITORY, 'packages')
export const CORE = join(PACKAGES, 'core')
export const TEAM = join(PACKAGES, 'team')
/** The program of the command line. */
export const CORDON = join(CORE, 'bin', 'cordon.js')
