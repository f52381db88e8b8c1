/** `ENOENT: no such file or directory, open 'x'` without the part that the message has already. */
export const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message.replace(/, \w+(?: '.*)?$/s, '') : String(cause)
