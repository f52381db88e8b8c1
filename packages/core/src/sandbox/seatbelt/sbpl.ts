// Words of SBPL, the language of Seatbelt's profiles. A text that could mean something else there is refused.
import { fail } from '../../errors/index.js'
import type { AbsolutePath, PathPattern, Segment } from '../../policy/index.js'
import { parentOf } from '../../policy/index.js'

import type { RealObject } from '../grants/object-at.js'

export const sbplString = (text: string): string => {
  if (/[\p{Cc}\p{Cs}\p{Cn}\u2028\u2029]/u.test(text))
    throw fail('grant-inexpressible', {
      section: 'filesystem',
      grant: JSON.stringify(text),
      problem: 'a Seatbelt profile cannot spell this name',
      fix: 'rename the file, or grant a folder around it',
    })
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

export const literal = (path: string): string => `(literal ${sbplString(path)})`
export const subpath = (path: string): string => `(subpath ${sbplString(path)})`
export const regex = (text: string): string => `(regex ${sbplString(text)})`

/** An object, and everything beneath it if it is a folder. */
export const filterOf = ({ path, object }: RealObject): string =>
  object === 'directory' ? subpath(path) : literal(path)

/** One rule, with a filter on each line. Without a filter there is no rule, because it would apply to everything. */
export const rule = (action: 'allow' | 'deny', operations: string, filters: readonly string[]): readonly string[] =>
  filters.length === 0 ? [] : [`(${action} ${operations}`, ...[...new Set(filters)].map((filter) => `  ${filter}`), ')']

export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/**
 * A name in either case, for denials: most volumes of macOS do not tell the cases apart. They take two letters beyond
 * ASCII for s and k.
 */
export const inEitherCase = (text: string): string =>
  Array.from(text, (character) => {
    if (!/[a-z]/i.test(character)) return escaped(character)
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
    const other = { s: '\u017f', k: '\u212a' }[lower]
    return other === undefined ? `[${lower}${upper}]` : `([${lower}${upper}]|${other})`
  }).join('')

/** Everything that a carve-out takes away: its matches, and what lies beneath them. */
export const carvedBy = ({ segments }: PathPattern): string =>
  `^${segments.map((segment, at) => segmentText(segment, at === segments.length - 1)).join('')}(/.*)?$`

const segmentText = (segment: Segment, isLast: boolean): string => {
  switch (segment.kind) {
    case 'name':
      return `/${inEitherCase(segment.name)}`
    case 'any-depth':
      return isLast ? '/.+' : '(/.*)?'
    case 'wildcard':
      return `/${segment.parts
        .map((part) => {
          switch (part.kind) {
            case 'character':
              return inEitherCase(part.character)
            case 'letter':
              return inEitherCase(part.cases[0] ?? '')
            case 'one':
              return ONE
            case 'run':
              return '[^/]*'
          }
        })
        .join('')}`
  }
}

/** One character. It has up to four bytes, and Seatbelt may count those. */
const ONE = '[^/][^/]?[^/]?[^/]?'

/** The folders above a path, without the root. */
export const ancestorsOf = (path: AbsolutePath): readonly AbsolutePath[] => {
  const parent = parentOf(path)
  return parent === '/' ? [] : [...ancestorsOf(parent), parent]
}
