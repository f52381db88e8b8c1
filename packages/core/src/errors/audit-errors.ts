import type { ErrorText } from './error-text.js'

/** Errors of the audit log. See table.ts. */
export const AUDIT_ERRORS = {
  'audit-unwritable': {
    when: 'The audit log cannot be written. A call that cannot be recorded does not run.',
    message: 'the audit log {path} cannot be written: {problem}',
    agent: 'This call cannot be recorded, so it was not run.',
    fix: '{fix}',
  },
  'end-not-recorded': {
    when: 'A tool ran, but the end of its call could not be recorded. The log has its start.',
    message: 'the tool "{tool}" ran ({status}), but the end of its call could not be recorded: {problem}',
    agent:
      'The tool ran, but the end of the call could not be recorded. Find out what it did before you call it again.',
    fix: '{fix}',
  },
  'audit-broken': {
    when: 'The audit log or its anchor was changed by something other than Cordon.',
    message: 'the audit log {path} was changed from outside: {problem}',
    agent: 'This call cannot be recorded, so it was not run.',
    fix: 'to see what is wrong, run: cordon log verify {path}; then move the log and its anchor away as evidence, and Cordon starts a new log',
  },
  'audit-busy': {
    when: 'Another process has been writing to the audit log for too long.',
    message: 'the audit log {path} has been held by the process {owner} for {seconds} s',
    agent: 'This call cannot be recorded now, so it was not run.',
    fix: 'check whether that process is stopped; if it no longer exists, remove {lock}',
  },
  'audit-unsafe-path': {
    when: 'Other users could change or replace the audit log at this path.',
    message: 'the path {path} is not safe for the audit log: {problem}',
    agent: 'This call cannot be recorded, so it was not run.',
    fix: '{fix}',
  },
} as const satisfies Record<string, ErrorText>
