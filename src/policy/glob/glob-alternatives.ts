// First stage of reading a glob: escapes and `{a,b}` groups. What leaves here is a list of plain
// character sequences in which every wildcard is still marked as one.

/** One character; `special` when it has its glob meaning rather than standing for itself. */
export interface GlobCharacter {
  readonly character: string
  readonly special: boolean
}

export type Alternatives =
  | { readonly kind: 'alternatives'; readonly items: readonly (readonly GlobCharacter[])[] }
  | { readonly kind: 'problem'; readonly problem: string }

// Groups multiply; a policy that a person is meant to review has no use for more than this.
const MAX_ALTERNATIVES = 256
const MAX_LENGTH = 4096

const SPECIAL = new Set(['*', '?', '[', ']', '{', '}', ',', '~', '!'])

class Malformed extends Error {}

const readCharacters = (text: string): GlobCharacter[] => {
  const read: GlobCharacter[] = []
  let escaped = false
  for (const character of text) {
    if (escaped) {
      if (!SPECIAL.has(character) && character !== '\\')
        throw new Malformed(`"\\${character}" escapes nothing; a literal backslash is written "\\\\"`)
      read.push({ character, special: false })
      escaped = false
    } else if (character === '\\') {
      escaped = true
    } else {
      read.push({ character, special: SPECIAL.has(character) })
    }
  }
  if (escaped) throw new Malformed('it ends in a lone backslash')
  return read
}

const isSpecial = (character: GlobCharacter | undefined, wanted: string): boolean =>
  character !== undefined && character.special && character.character === wanted

/** Splits the inside of the group that opens at `open` at its own commas, not at those of nested groups. */
const splitGroup = (
  glob: readonly GlobCharacter[],
  open: number,
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
  throw new Malformed('a "{" is never closed')
}

const expand = (glob: readonly GlobCharacter[]): (readonly GlobCharacter[])[] => {
  const open = glob.findIndex((character) => isSpecial(character, '{'))
  const stray = glob.findIndex((character) => isSpecial(character, '}'))
  if (stray !== -1 && (open === -1 || stray < open)) throw new Malformed('a "}" has no "{"')
  if (open === -1) return [glob]

  const { parts, close } = splitGroup(glob, open)
  if (parts.length < 2)
    throw new Malformed('a group needs two alternatives, as in {a,b}; a literal brace is written "\\{"')
  const before = glob.slice(0, open)
  const expandedAfter = expand(glob.slice(close + 1))
  const expanded: (readonly GlobCharacter[])[] = []
  for (const part of parts) {
    for (const middle of expand(part)) {
      for (const after of expandedAfter) {
        expanded.push([...before, ...middle, ...after])
        if (expanded.length > MAX_ALTERNATIVES)
          throw new Malformed(`it stands for more than ${MAX_ALTERNATIVES} alternatives`)
      }
    }
  }
  return expanded
}

export const readAlternatives = (text: string): Alternatives => {
  try {
    if (text.length > MAX_LENGTH) throw new Malformed(`it is longer than ${MAX_LENGTH} characters`)
    if (text.includes('\0')) throw new Malformed('it contains a NUL byte')
    return { kind: 'alternatives', items: expand(readCharacters(text)) }
  } catch (error) {
    if (error instanceof Malformed) return { kind: 'problem', problem: error.message }
    throw error
  }
}
