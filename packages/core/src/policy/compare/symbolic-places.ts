// Positions of workspace and home for a comparison that does not know them. A policy is within another only if it is so
// at all of them. Placeholders stand for names that are not known. No pattern can contain one.
import type { AbsolutePath } from '../glob/absolute-path.js'
import { isWithinPath, joinNames, namesOf } from '../glob/absolute-path.js'
import { itemsIn } from '../model.js'
import type { Boundary, ToolPolicy } from '../model.js'
import type { Segment } from '../glob/glob-segments.js'
import type { Anchor, GlobAlternative, PathGlob } from '../glob/path-glob.js'
import { parsePathGlob } from '../glob/path-glob.js'
import type { Places } from '../glob/path-pattern.js'
import { PRESETS } from '../resolve/presets.js'
import { canonicalPolicy } from '../resolve/canonical-policy.js'

export interface TriedPlaces extends Places {
  /** For a witness. Undefined if workspace and home are known. */
  readonly assuming?: string
}

/** A pattern with NUL is refused. */
const MARK = '\0'
const placeholder = (word: string): string => `<${MARK}${word}>`
const shown = (text: string): string => text.replaceAll(MARK, '')

const USUAL = ''
const IN_WORKSPACE = ['projects', 'group', 'workspace'].map(placeholder)
const HOME = ['home', placeholder('user')]
const BESIDE = ['srv', placeholder('above'), ...IN_WORKSPACE]
const inHome = (names: readonly string[]) => [...HOME, ...names]

const placed = (assuming: string, workspace: readonly string[], home: readonly string[]): TriedPlaces => ({
  workspace: joinNames(workspace),
  home: joinNames(home),
  assuming: shown(assuming),
})

/** The workspace is in the home folder, and no pattern names its folder. */
export const USUAL_PLACES = placed(USUAL, inHome(IN_WORKSPACE), HOME)

/** Each costs a comparison of its own. */
const MOST_PLACES = 256

export const placesToTry = (
  ...given: readonly (ToolPolicy | Boundary)[]
): readonly [TriedPlaces, ...TriedPlaces[]] | 'too-many' => {
  const globs = given.flatMap((each) => ('filesystem' in each ? globsOf(each) : []))
  const written = globs.flatMap(({ alternatives }) => alternatives)
  if (written.every(({ anchor }) => anchor === 'root')) return [USUAL_PLACES]
  const levels = (anchor: Anchor) =>
    Math.max(0, ...written.filter((each) => each.anchor === anchor).map(({ levelsUp }) => levelsUp))
  const [above, aboveHome] = [levels('workspace'), levels('home')]
  // An exact position matters only to a carve-out, and to protected names.
  const isExact = given.some((each) => 'filesystem' in each && (hasCarveOuts(each) || writes(each)))
  const folders = (anchor: Anchor) =>
    isExact ? foldersOf(written.filter((each) => each.anchor === anchor && each.levelsUp === 0)) : []
  const others = [
    placed('the workspace is not in the home folder', BESIDE, HOME),
    placed('the home folder is in the workspace', BESIDE, [...BESIDE, placeholder('home')]),
    placed('the workspace is the home folder', BESIDE, BESIDE),
    ...(above > 0
      ? [placed('the workspace is directly in the home folder', inHome([placeholder('workspace')]), HOME)]
      : []),
    ...folders('root').flatMap((names) => [
      placed(`the workspace is ${joinNames(names)}`, names, HOME),
      placed(`the home folder is ${joinNames(names)}`, BESIDE, names),
    ]),
    ...folders('home').map((names) => placed(`the workspace is ~/${names.join('/')}`, inHome(names), HOME)),
    ...folders('workspace').map((names) =>
      placed(`the home folder is ./${names.join('/')}`, BESIDE, [...BESIDE, ...names]),
    ),
  ]
  const possible = others.filter(
    ({ workspace, home }) => namesOf(workspace).length >= above && namesOf(home).length >= aboveHome,
  )
  return possible.length > MOST_PLACES ? 'too-many' : [USUAL_PLACES, ...possible]
}

const hasCarveOuts = (policy: ToolPolicy): boolean => globsOf(policy).some(({ negated }) => negated)

const writes = ({ filesystem, presets }: ToolPolicy): boolean =>
  filesystem.write.kind === 'list' || presets.includes('workspace')

const globsOf = ({ filesystem, exec, presets }: ToolPolicy): readonly PathGlob[] => [
  ...[filesystem.read, filesystem.write].flatMap(itemsIn),
  ...itemsIn(exec).flatMap((program) => (program.kind === 'path' ? [program.glob] : [])),
  // Other presets only grant reading, which no position of them takes away.
  ...presets.flatMap((name) => PRESETS[name].write.map((text) => parsePathGlob(text, name))),
]

/** All folders on the way to the paths that patterns describe, with one name for each wildcard. */
const foldersOf = (alternatives: readonly GlobAlternative[]): readonly (readonly string[])[] => {
  const folders = new Map<string, readonly string[]>()
  for (const { segments } of alternatives) {
    const names = segments.map(nameLike)
    for (let depth = 0; depth <= names.length; depth += 1) {
      const folder = names.slice(0, depth)
      folders.set(folder.join('/'), folder)
    }
  }
  return [...folders.values()]
}

const nameLike = (segment: Segment): string => {
  switch (segment.kind) {
    case 'name':
      return segment.name
    case 'any-depth':
      return placeholder('deep')
    case 'wildcard':
      return segment.parts.map((part) => (part.kind === 'character' ? part.character : 'x')).join('')
  }
}

/** Whether the files of two policies are the same, wherever workspace and home are. */
export const haveSameFiles = (a: ToolPolicy | Boundary, b: ToolPolicy | Boundary): boolean =>
  a === b || ('filesystem' in a && 'filesystem' in b && filesText(a) === filesText(b))

const UNSPECIFIED = { kind: 'unspecified' } as const

const filesText = (policy: ToolPolicy): string =>
  canonicalPolicy({
    ...policy,
    risk: UNSPECIFIED,
    network: UNSPECIFIED,
    egressClass: UNSPECIFIED,
    environment: UNSPECIFIED,
    credentials: [],
    limits: {},
    require: [],
  })

/** A path as it is written in a policy. */
export const pathIn = (
  { workspace, home, assuming }: TriedPlaces,
  path: string,
): { readonly path: string; readonly assuming?: string } => {
  if (assuming === undefined) return { path }
  const from = (place: AbsolutePath, sign: string) => ({ place, sign })
  const nearest = [from(workspace, '.'), from(home, '~')]
    .filter(({ place }) => isWithinPath(path as AbsolutePath, place) && !path.slice(place.length).includes(MARK))
    .sort((one, other) => other.place.length - one.place.length)[0]
  const text =
    nearest === undefined
      ? upwards(workspace, path as AbsolutePath)
      : fromPlace(nearest.sign, path.slice(nearest.place === '/' ? 0 : nearest.place.length))
  return { path: shown(text), ...(assuming === USUAL ? {} : { assuming }) }
}

const fromPlace = (sign: string, rest: string): string => (rest === '/' ? sign : `${sign}${rest}`)

/** `../x` for a path in a folder above the workspace, if that folder has no real name. */
const upwards = (workspace: AbsolutePath, path: AbsolutePath): string => {
  const [names, own] = [namesOf(path), namesOf(workspace)]
  const shared = own.findIndex((name, at) => names[at] !== name)
  const isNameless = own.slice(0, shared).some((name) => name.includes(MARK))
  return isNameless ? [...own.slice(shared).map(() => '..'), ...names.slice(shared)].join('/') : path
}
