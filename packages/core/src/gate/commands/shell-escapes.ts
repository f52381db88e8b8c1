// The texts of `$'…'` and of backquotes. Shells differ on rare escapes, so an unlisted escape has no known text.

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  'n': '\n',
  't': '\t',
  'r': '\r',
  'a': '\x07',
  'b': '\b',
  'f': '\f',
  'v': '\v',
  'e': '\x1b',
  'E': '\x1b',
  '\\': '\\',
  '"': '"',
  '?': '?',
}
const ANSI_ESCAPE =
  /\\(?:x(?<hex>[0-9a-fA-F]{1,2})|u(?<short>[0-9a-fA-F]{1,4})|U(?<long>[0-9a-fA-F]{1,8})|(?<octal>[0-7]{1,3})|(?<other>[^]?))/g
/** A NUL ends the text in bash and not in other shells. Here it also marks an escape without a known text. */
const UNKNOWN = '\0'

/**
 * The text of `$'…'`, or undefined if it is not certain. An escaped single quote is not certain: a shell without `$'…'`
 * ends the text there, and runs the rest.
 */
export const decodeAnsi = (text: string): string | undefined => {
  const decoded = text.replace(ANSI_ESCAPE, (...match: unknown[]) => {
    const { hex, short, long, octal, other = '' } = match.at(-1) as Record<string, string | undefined>
    const code = hex ?? short ?? long
    if (code !== undefined) return fromCode(parseInt(code, 16))
    if (octal !== undefined) return fromCode(parseInt(octal, 8) & 0xff)
    return SIMPLE_ESCAPES[other] ?? UNKNOWN
  })
  return decoded.includes(UNKNOWN) ? undefined : decoded
}

const fromCode = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : UNKNOWN)

/** The command line between two backquotes, where a backslash escapes only these three. */
export const unescapeBackquoted = (text: string): string => text.replace(/\\([$`\\])/g, '$1')
