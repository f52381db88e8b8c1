// First stage of reading a glob: escapes and `{a,b}` groups. The result is a list of plain character sequences in which
// every wildcard is still marked as one.

/** One character. `special`: it has its glob meaning and does not stand for itself. */
export interface GlobCharacter {
  readonly character: string
  readonly special: boolean
}

/** The error for a glob that is not valid. */
export type Reject = (problem: string) => Error

// Groups multiply. No policy that a person reviews needs more than this.
const MAX_ALTERNATIVES = 256
export const MAX_LENGTH = 4096

const SPECIAL = '*?[]{},~!'

export const readAlternatives = (text: string, reject: Reject): readonly (readonly GlobCharacter[])[] => {
  if (text.length > MAX_LENGTH) throw reject(`it is longer than ${MAX_LENGTH} characters`)
  if (text.includes('\0')) throw reject('it contains a NUL byte')
  return expand(readCharacters(text, reject), reject)
}

const readCharacters = (text: string, reject: Reject): readonly GlobCharacter[] => {
  const read: GlobCharacter[] = []
  let escaped = false
  for (const character of text) {
    if (escaped) {
      if (!SPECIAL.includes(character) && character !== '\\')
        throw reject(`"\\${character}" escapes nothing; a literal backslash is written "\\\\"`)
      read.push({ character, special: false })
      escaped = false
    } else if (character === '\\') escaped = true
    else read.push({ character, special: SPECIAL.includes(character) })
  }
  if (escaped) throw reject('it ends in a lone backslash')
  return read
}

export const isSpecial = (one: GlobCharacter | undefined, wanted: string): boolean =>
  one?.special === true && one.character === wanted

/** Splits the inside of the group that opens at `open` at its own commas, not at those of nested groups. */
const splitGroup = (
  glob: readonly GlobCharacter[],
  open: number,
  reject: Reject,
): { readonly parts: GlobCharacter[][]; readonly close: number } => {
  const parts: GlobCharacter[][] = [[]]
  let depth = 0
  for (const [offset, character] of glob.slice(open + 1).entries()) {
    if (depth === 0 && isSpecial(character, '}')) return { parts, close: open + 1 + offset }
    if (depth === 0 && isSpecial(character, ',')) {
      parts.push([])
      continue
    }
    if (isSpecial(character, '{')) depth += 1
    if (isSpecial(character, '}')) depth -= 1
    parts.at(-1)?.push(character)
  }
  throw reject('a "{" is never closed')
}

const expand = (glob: readonly GlobCharacter[], reject: Reject): readonly (readonly GlobCharacter[])[] => {
  const open = glob.findIndex((character) => isSpecial(character, '{'))
  const stray = glob.findIndex((character) => isSpecial(character, '}'))
  if (stray !== -1 && (open === -1 || stray < open)) throw reject('a "}" has no "{"')
  if (open === -1) return [glob]

  const { parts, close } = splitGroup(glob, open, reject)
  if (parts.length < 2) throw reject('a group needs two alternatives, as in {a,b}; a literal brace is written "\\{"')
  const before = glob.slice(0, open)
  const expandedAfter = expand(glob.slice(close + 1), reject)
  const expanded: (readonly GlobCharacter[])[] = []
  for (const part of parts) {
    for (const middle of expand(part, reject)) {
      for (const after of expandedAfter) {
        expanded.push([...before, ...middle, ...after])
        if (expanded.length > MAX_ALTERNATIVES) throw reject(`it stands for more than ${MAX_ALTERNATIVES} alternatives`)
      }
    }
  }
  return expanded
}
