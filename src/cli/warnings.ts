// Grants that grant nothing: said before the command runs, because they are most likely slips.
import type { Boundary } from '../policy/index.js'
import { unmatchedReads } from '../sandbox/index.js'

import { asWord } from './shell-word.js'

export const warningsOf = (typedVariables: readonly string[], boundary: Boundary, environment: Readonly<Record<string, string | undefined>>): readonly string[] => [
  ...unmatchedReads(boundary).map((text) => `the read pattern ${asWord(text)} matches nothing here, and so grants nothing`),
  ...typedVariables
    .filter((word) => !word.includes('=') && environment[word] === undefined)
    .map((name) => `--env ${name}: there is no such variable here, so the command gets none; --env ${name}=VALUE sets it`),
]
