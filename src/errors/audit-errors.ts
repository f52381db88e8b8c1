import type { ErrorText } from './error-text.js'

/** The part of the table that is about the record of what happened. */
export const AUDIT_ERRORS = {
  'audit-unwritable': {
    when: 'The audit log cannot be written. What cannot be recorded does not run.',
    message: 'the audit log {path} cannot be written: {problem}',
    agent: 'This call cannot be recorded, so it was not run.',
    fix: '{fix}',
  },
  'end-not-recorded': {
    when: 'A tool ran, and the end of its call could not be recorded. The beginning is in the log.',
    message: 'the tool "{tool}" ran ({status}), and the end of its call could not be recorded: {problem}',
    agent: 'The tool ran, but the end of the call could not be recorded. Find out what it did before you call it again.',
    fix: '{fix}',
  },
  'audit-broken': {
    when: 'The audit log, or its anchor, is not as it was left, and no crash explains it.',
    message: 'the audit log {path} is not as it was left: {problem}',
    agent: 'This call cannot be recorded, so it was not run.',
    fix: 'see what is wrong with: cordon log verify {path}; then keep it as evidence: move it and its anchor away, and a new one is begun',
  },
  'audit-busy': {
    when: 'Another process has been writing to the audit log for too long.',
    message: 'the audit log {path} has been held by the process {owner} for {seconds} s',
    agent: 'This call cannot be recorded now, so it was not run.',
    fix: 'see whether that process is stopped; if it is gone, remove {lock}',
  },
  'audit-unsafe-path': {
    when: 'The audit log would lie where others can change or replace it.',
    message: 'the audit log cannot be {path}: {problem}',
    agent: 'This call cannot be recorded, so it was not run.',
    fix: '{fix}',
  },
} as const satisfies Record<string, ErrorText>
