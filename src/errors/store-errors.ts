// Errors of the store: registry, approvals and invocations. See table.ts.
import type { ErrorText } from './error-text.js'

export const STORE_ERRORS = {
  'store-refused': {
    when: 'The database does not allow it to this caller, or not now: assignment, profile, budget, kill switch, self-approval.',
    message: 'refused by the store: {problem}',
    agent: 'This was refused: {problem}.',
  },
  'store-missing': {
    when: 'A tool, an invocation or something else that was named is not in the store.',
    message: 'not in the store: {problem}',
    agent: 'It does not exist: {problem}.',
  },
  'store-state': {
    when: 'What was asked for does not fit the state of the row, or its input does not fit its schema.',
    message: 'not possible: {problem}',
    agent: 'Not possible: {problem}.',
    fix: '{hint}',
  },
  'store-unavailable': {
    when: 'The database cannot be reached, or broke the connection. What was asked for may or may not have happened.',
    message: 'the store at {where} cannot be reached: {problem}',
    agent: 'The registry of tools cannot be reached.',
    fix: 'see that the server runs and the URL is right; a folder can be opened by one process at a time',
  },
  'store-newer': {
    when: 'The database was made by a newer version of Cordon.',
    message: 'the store has migration {found}, and this version knows up to {known}',
    agent: 'The registry of tools cannot be used.',
    fix: 'update cordon here; nothing was changed',
  },
  'store-differs': {
    when: 'A migration that was applied is not the one that this version has under the same number.',
    message: 'migration {number} of the store is not the one that this version knows',
    agent: 'The registry of tools cannot be used.',
    fix: 'use the version of cordon that made it, or a new database; nothing was changed',
  },
} as const satisfies Readonly<Record<string, ErrorText>>
