import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../../bin/cordon.js', import.meta.url))

/** The words that start the command line of this very Cordon. The search path may have another one, or none. */
export const ownProgram = (): readonly string[] => [process.execPath, PROGRAM]
