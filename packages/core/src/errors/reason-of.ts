export const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** `ENOENT: no such file or directory, open 'x'` without the part that the message has already. */
export const reasonOf = (cause: unknown): string => messageOf(cause).replace(/, \w+(?: '.*)?$/s, '')

/** The code of an error of the operating system, such as `ENOENT`. */
export const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
