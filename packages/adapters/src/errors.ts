// Errors of the adapters for SDKs.
import { ERRORS as CORE_ERRORS, failFrom } from 'cordon/errors'
import type { ErrorText, Fail } from 'cordon/errors'

export const ERRORS = {
  'sandbox-unsupported': {
    when: 'A sandbox interface of an SDK asks for something that a cell does not have.',
    message: 'a cell has no {what}',
    agent: 'This sandbox has no {what}.',
    fix: '{fix}',
  },
  'sandbox-refused': {
    when: 'A command or a file of a sandbox interface was refused, or the command was killed.',
    message: '{reason}',
    agent: '{reason}',
    fix: '{fix}',
  },
} as const satisfies Record<string, ErrorText>

const ALL_ERRORS = { ...CORE_ERRORS, ...ERRORS } as const

export const fail: Fail<typeof ALL_ERRORS> = failFrom(ALL_ERRORS)
