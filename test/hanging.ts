/** Time after which a test kills a program: the timeout of the test itself, so that it kills no slow program. */
export const ENDS_WHAT_HANGS_MS = 240_000
