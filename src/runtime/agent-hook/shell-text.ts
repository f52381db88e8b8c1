/** A word that every shell takes as it is. `asWord` leaves some words bare that a shell other than sh would expand. */
export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`
