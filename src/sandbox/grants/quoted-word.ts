/** A word as a shell takes it, whatever is in it. */
export const quotedWord = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`
