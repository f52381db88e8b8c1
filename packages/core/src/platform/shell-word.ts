// Words of a command line, as a POSIX shell reads them.

/** Quoted only where the shell would read something else. For people, who read and paste it. */
export const shellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : quotedWord(word))

/** Always quoted: every shell takes it as it is, also those that expand bare words that sh would not. */
export const quotedWord = (word: string): string => `'${word.replaceAll("'", ESCAPED_QUOTE)}'`

/** The word that `quotedWord` wrote, from the text between its outer quotes. */
export const unquotedWord = (text: string): string => text.replaceAll(ESCAPED_QUOTE, "'")

const ESCAPED_QUOTE = String.raw`'\''`
