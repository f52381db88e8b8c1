import { join } from 'node:path'

import { PACKAGE_FOLDER } from '../../platform/index.js'

const PROGRAM = join(PACKAGE_FOLDER, 'bin', 'cordon.js')

/** The words that start the command line of this very Cordon. The search path may have another one, or none. */
export const ownProgram = (): readonly string[] => [process.execPath, PROGRAM]
