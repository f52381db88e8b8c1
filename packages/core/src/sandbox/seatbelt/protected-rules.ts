// Protected names in a profile. Linux seals the names that exist and watches for new ones. Seatbelt compares paths, so
// one rule covers both.
import type { AbsolutePath, PathPattern } from '../../policy/index.js'
import { PROTECTED_NAMES, joinNames, protectionOf } from '../../policy/index.js'

import { escaped, inEitherCase, literal, regex, rule, subpath } from './sbpl.js'

/**
 * A program could make a protected name elsewhere, and move the folder around it. So a name is protected at every
 * depth, also among installed dependencies, and its first parts (`.git`) cannot be made, moved or removed. In the
 * private folder the names are free, and folders cannot be moved out of it.
 */
export const protectedRules = (write: readonly PathPattern[], temporary: AbsolutePath): readonly string[] => {
  const grants = write.filter(({ negated }) => !negated)
  if (grants.length === 0) return [...keptInside(temporary)]
  const outside = `(require-not ${subpath(temporary)})`
  const within = (filter: string) => `(require-all ${outside} ${filter})`
  const contents = PROTECTED_NAMES.flatMap(({ name, scope, object }) =>
    scope === 'root'
      ? foldersOf(grants)
          .filter((folder) => protectionOf(grants, `${folder}/${name}` as AbsolutePath) !== undefined)
          .map((folder) => regex(`^${escaped(folder)}/${inEitherCase(name)}$`))
      : exceptNamed(name, object === 'file' ? '$' : '(/.*)?$', grants),
  )
  const beginnings = new Set(PROTECTED_NAMES.flatMap(({ name }) => beginningsOf(name)))
  return [
    ...rule('deny', 'file-write*', contents.map(within)),
    ...rule(
      'deny',
      'file-write-create file-write-unlink',
      [...beginnings].map((name) => within(regex(`/${inEitherCase(name)}$`))),
    ),
    ...keptInside(temporary),
  ]
}

const keptInside = (temporary: AbsolutePath) =>
  rule('deny', 'file-write-unlink', [literal(temporary), `(require-all ${subpath(temporary)} (vnode-type DIRECTORY))`])

/** `.config/pip` begins with `.config`. */
const beginningsOf = (name: string): readonly string[] =>
  name
    .split('/')
    .slice(0, -1)
    .map((_, at, parts) => parts.slice(0, at + 1).join('/'))

/** A name, except for the objects that a write grant spells out. Beneath those it is protected again. */
const exceptNamed = (name: string, end: string, grants: readonly PathPattern[]): readonly string[] => {
  const everywhere = regex(`/${inEitherCase(name)}${end}`)
  const named = namedIn(grants, name)
  if (named.length === 0) return [everywhere]
  return [
    `(require-all ${everywhere} ${named.map((path) => `(require-not ${subpath(path)})`).join(' ')})`,
    ...named.map((path) => regex(`^${escaped(path)}/(.*/)?${inEitherCase(name)}${end}`)),
  ]
}

/** A grant whose part before the name has a wildcard names no object: its matches stay read-only. */
const namedIn = (grants: readonly PathPattern[], name: string): readonly AbsolutePath[] => {
  const wanted = name.split('/')
  return grants.flatMap(({ segments }) => {
    const firstWild = segments.findIndex(({ kind }) => kind !== 'name')
    const names = segments
      .slice(0, firstWild === -1 ? segments.length : firstWild)
      .flatMap((segment) => (segment.kind === 'name' ? [segment.name] : []))
    return names.flatMap((_, end) => {
      const tail = names.slice(Math.max(0, end + 1 - wanted.length), end + 1)
      return tail.join('/') === name ? [joinNames(names.slice(0, end + 1))] : []
    })
  })
}

/** Where grants begin. Names such as package.json are protected directly there. */
const foldersOf = (grants: readonly PathPattern[]): readonly string[] => [
  ...new Set(grants.map(({ base }) => (base === '/' ? '' : base))),
]
