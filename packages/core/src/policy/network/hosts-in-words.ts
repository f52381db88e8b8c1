const MOST_HOSTS = 5
const LONGEST = 64 * 1024

/** The hosts of the URLs in a text, for advice only: a program may ask for another host. */
export const hostsNamedIn = (words: readonly string[]): readonly string[] => {
  const text = words.join(' ').slice(0, LONGEST)
  const hosts = Array.from(
    text.matchAll(
      /\b(?:https?|wss?|ssh|git|ftp):\/\/(?:[^\s/@'"`]{0,255}@)?([a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?)(?=[:/?#\s'"`)]|$)/gi,
    ),
    ([, host = '']) => host.toLowerCase(),
  )
  return [...new Set(hosts)].slice(0, MOST_HOSTS)
}
