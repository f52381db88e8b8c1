// Tools that share a cell can reach what the cell grants, and only the argument gate holds each to its own policy. So a
// string counts as a path if the working folder of the cell could turn it into one, also into a new file.
import { isReadable, wildcardMatches } from '../../policy/index.js'
import type { AbsolutePath, Boundary, StanceSection, WildcardPart } from '../../policy/index.js'

import type { CellPlaces } from './path-spelling.js'
import type { ListFolder, ResolvePath } from './resolve-path.js'

/** A cell that serves tools with different policies. It grants what all of them grant together. */
export interface SharedCell {
  readonly boundary: Boundary
  /** Whether another tool in it has another policy. */
  readonly hasOtherPolicies: boolean
}

/** Whether an omitted section of one tool is none for the gate, because others could have more there. */
export const isNoneIn = ({ boundary, hasOtherPolicies }: SharedCell, section: StanceSection): boolean => {
  if (hasOtherPolicies || section === 'environment' || section === 'exec') return true
  return section === 'network' ? boundary.network.kind !== 'none' : boundary[section].length > 0
}

const MOST_LETTERS = 4096
const MOST_ALTERNATIVES = 64
const VARIABLE = /^\$(?:\{(?<braced>\w+)\}|(?<plain>[A-Za-z_]\w*))(?=\/|$)/

/** What stands around a path: `@file`, `'file'`, `"file"`, `name=file`. */
const WRAPPINGS = [/^@+(.+)$/su, /^'(.+)'$/su, /^"(.+)"$/su, /^[\w-]+=(.+)$/su]
/** The working folder as shells have it. */
const SHELL_FOLDER = /^(?:~\+|\$\(pwd\)|`pwd`)(?=\/)/

/** Other texts that a program makes of a text before it opens it: `@file`, `$PWD/file`, `{a,b}/file`. */
export const rewritingsOf = (text: string, places: CellPlaces): readonly string[] => {
  if (text.length > MOST_LETTERS || !/[@${'"=~`]/.test(text)) return []
  const unwrapped = WRAPPINGS.flatMap((wrapping) => wrapping.exec(text)?.[1] ?? [])
  const unmarked = [...unwrapped, ...[text, ...unwrapped].map((each) => each.replace(SHELL_FOLDER, places.cwd))]
  const expanded = [text, ...unmarked].flatMap((each) => withoutVariable(each, places))
  return [text, ...unmarked, ...expanded].flatMap(alternativesOf).filter((each) => each !== text)
}

/** A variable of unknown value could lead anywhere, so its text counts as an absolute path, which is not granted. */
const withoutVariable = (text: string, { cwd, home }: CellPlaces): readonly string[] => {
  const found = VARIABLE.exec(text)
  if (found === null) return []
  const name = found.groups?.['braced'] ?? found.groups?.['plain']
  const rest = text.slice(found[0].length)
  if (name === 'PWD') return [`${cwd}${rest}`]
  if (name === 'HOME') return [`${home}${rest}`]
  return rest === '' ? [] : [`/${text}`]
}

/** `a{b,c}d` as `abd` and `acd`. Of a text with many it gives none, because nobody writes a path so. */
const alternativesOf = (text: string): readonly string[] => {
  let open = [text]
  for (let at = 0; at < open.length;) {
    const whole = open[at] ?? ''
    const found = [...whole.matchAll(/\{(?<inner>[^{}]*)\}/g)].find(([group]) => group.includes(','))
    if (found === undefined) {
      at += 1
      continue
    }
    const [before, after] = [whole.slice(0, found.index), whole.slice(found.index + found[0].length)]
    const inner = (found.groups?.['inner'] ?? '').split(',')
    open = [...open.slice(0, at), ...inner.map((each) => `${before}${each}${after}`), ...open.slice(at + 1)]
    if (open.length > MOST_ALTERNATIVES) return []
  }
  return open
}

const LONGEST_NAME = 255

/**
 * Whether this may be a new file: below a folder of the working directory, where a policy of the cell grants something.
 * `resolved`: undefined if nobody knows where it leads.
 */
export const mayBeNew = (
  { boundary }: SharedCell,
  { cwd }: CellPlaces,
  spelled: AbsolutePath,
  resolved: AbsolutePath | undefined,
  resolve: ResolvePath,
): boolean => {
  const [first = '', ...rest] = spelled.slice(cwd.length + 1).split('/')
  if (rest.length === 0 || rest.some((name) => Buffer.byteLength(name) > LONGEST_NAME)) return false
  const folder = resolve(`${cwd}/${first}`)
  return folder.kind === 'object' && folder.exists && isReadable({ ...boundary, presetRead: [] }, resolved ?? spelled)
}

const MOST_MATCHES = 1_000
const IS_PATTERN = /[*?[]/

/**
 * The existing files that a pattern in the working directory matches, such as `b/*`. Undefined if it is not a pattern
 * of paths: without a folder (`*.ts`), or from any depth (`**`), it says what to search for.
 */
export const filesMatching = (path: string, { cwd }: CellPlaces, list: ListFolder): readonly string[] | undefined => {
  const [first = '', ...rest] = path.slice(cwd.length + 1).split('/')
  if (!IS_PATTERN.test(path) || rest.length === 0 || first.startsWith('**')) return undefined
  let found: readonly string[] = [cwd]
  for (const name of [first, ...rest]) {
    const isMatching = IS_PATTERN.test(name) ? matcherOf(name) : undefined
    found = found.flatMap((folder) =>
      isMatching === undefined
        ? [`${folder}/${name}`]
        : (list(folder as AbsolutePath) ?? []).filter(isMatching).map((each) => `${folder}/${each}`),
    )
    // The first of them tell enough: a tool without a grant for one has none for most.
    found = found.slice(0, MOST_MATCHES)
  }
  return found
}

/** A class of characters matches any of them here, so that nothing is missed. */
const matcherOf = (name: string): ((candidate: string) => boolean) => {
  const parts = Array.from(name.replaceAll(/\[[^[\]]+\]/g, '?').replaceAll(/\*+/g, '*'), (character): WildcardPart => {
    if (character === '*') return { kind: 'run' }
    return character === '?' ? { kind: 'one' } : { kind: 'character', character }
  })
  return (candidate) => wildcardMatches(parts, candidate)
}
