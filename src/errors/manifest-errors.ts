// Errors of `cordon manifest`. See table.ts.
import type { ErrorText } from './error-text.js'

export const MANIFEST_ERRORS = {
  'manifest-invalid': {
    when: 'A file is no manifest that this version of Cordon can read.',
    message: '{problem}',
    agent: 'The manifest of this project is invalid.',
    fix: 'write it anew: cordon manifest generate',
  },
} as const satisfies Readonly<Record<string, ErrorText>>
