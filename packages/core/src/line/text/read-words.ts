// Splits a typed line into words. Unlike in a shell, nothing is expanded, and there are no operators.

type ReadWords =
  { readonly kind: 'words'; readonly words: readonly string[] } | { readonly kind: 'problem'; readonly problem: string }

/** Blanks separate words; '…', "…", $'…' and \ quote them. Reads back the output of `visibleWord`. */
export const readWords = (text: string): ReadWords => {
  const words: string[] = []
  let word: string | undefined
  const add = (piece: string) => {
    word = (word ?? '') + piece
  }
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at)
    const [piece, read] = nextPiece(rest)
    if (read === undefined)
      return { kind: 'problem', problem: `${rest.startsWith('$') ? "$'" : rest.charAt(0)} is not closed` }
    if (piece === undefined) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else add(piece)
    at += read
  }
  if (word !== undefined) words.push(word)
  if (words.length === 0) return { kind: 'problem', problem: 'there are no words' }
  if (words.some((each) => each.includes('\0'))) return { kind: 'problem', problem: 'no program can be given a NUL' }
  return { kind: 'words', words }
}

/** A piece of a word, or undefined for a blank, and its length, or undefined if it has no end. */
const nextPiece = (rest: string): readonly [string | undefined, number | undefined] => {
  const first = rest.charAt(0)
  if (/\s/.test(first)) return [undefined, 1]
  if (first === '\\') return rest.length < 2 ? ['', undefined] : [rest.charAt(1), 2]
  const quote = /^(?:'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\.)*)"|\$'(?<escaped>(?:[^'\\]|\\.)*)')/s.exec(rest)
  if (quote !== null) {
    const { single, double, escaped = '' } = quote.groups ?? {}
    return [single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? unescape(escaped), quote[0].length]
  }
  return first === "'" || first === '"' || rest.startsWith("$'") ? ['', undefined] : [first, 1]
}

const LETTERS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', e: '\u001b' }

const unescape = (text: string): string =>
  text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}|(.))/gs,
    (_, byte?: string, code?: string, letter?: string) => {
      if (letter !== undefined) return LETTERS[letter] ?? letter
      const number = parseInt(byte ?? code ?? '0', 16)
      return number <= 0x10ffff ? String.fromCodePoint(number) : ''
    },
  )
