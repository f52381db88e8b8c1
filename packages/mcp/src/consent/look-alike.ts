// Two names look alike if a person would take one for the other.

/** Letters of other scripts and digits, by the Latin letter that they look like. */
const TWINS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['a', 'аɑα'],
    ['b', 'Ьвḃ'],
    ['c', 'сϲᴄ'],
    ['d', 'ԁɗ'],
    ['e', 'еєε'],
    ['g', 'ɡց'],
    ['h', 'һհ'],
    ['i', 'іıɩι1l|ӏ'],
    ['j', 'јϳ'],
    ['k', 'кκ'],
    ['m', 'м'],
    ['n', 'ոп'],
    ['o', 'оοօ0σ'],
    ['p', 'рρ'],
    ['q', 'ԛ'],
    ['r', 'гᴦ'],
    ['s', 'ѕꜱ5'],
    ['t', 'тτ'],
    ['u', 'υսᴜ'],
    ['v', 'ѵν'],
    ['w', 'ԝѡ'],
    ['x', 'хχ'],
    ['y', 'уүγ'],
    ['z', 'ᴢ'],
  ].flatMap(([letter = '', twins = '']) => Array.from(twins, (twin) => [twin, letter])),
)

/** Names with the same skeleton look alike. */
export const skeletonOf = (name: string): string =>
  Array.from(
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[\p{M}\p{C}\p{Z}_.-]/gu, ''),
    (letter) => TWINS[letter] ?? letter,
  )
    .join('')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')

const OWN_NAME = 'cordon'

/** Whether a word in it, as a reader sees it, is the name of Cordon. Letters with gaps between them are one word. */
export const namesCordon = (text: unknown): boolean => {
  if (typeof text !== 'string') return false
  // One skeleton for all words: a server may send millions of them.
  const words = skeletonOf(text.replace(/[^\p{L}\p{M}\p{N}\p{Cf}|]+/gu, '/')).split('/')
  if (words.includes(OWN_NAME)) return true
  const spread = words.map((word) => (word.length === 1 ? word : ' ')).join('')
  return spread.includes(OWN_NAME)
}
