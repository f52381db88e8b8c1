import { isWithinPath, parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { futurePathOf } from '../../sandbox/index.js'

/** A file or folder that Cordon itself reads or writes. No policy can grant it. docs/own-files.md lists them all. */
export interface OwnFile {
  /** Absolute. */
  readonly path: string
  /** `withheld`: tools do not see it. `read-only`: tools may read it, and never change, replace or remove it. */
  readonly access: 'withheld' | 'read-only'
  /** For the refusal, such as "the value of the credential token". */
  readonly what: string
  /** What to do if a grant needs it. */
  readonly fix: string
  /**
   * Only names in this folder that begin so are Cordon's. If a tool may write there, the whole folder is withheld:
   * Cordon obeys names in it that do not exist yet.
   */
  readonly prefix?: string
  /**
   * Cordon runs from it. `object`: by its real path, also where nothing is yet. `link`: a symbolic link on the way to
   * one, which is put back if it changes. The cell looks for other names (hard links) of its files.
   */
  readonly program?: 'object' | 'link'
}

/** The beginning of the paths that an own file with a prefix covers. */
export const prefixedPath = (folder: string, prefix: string): string => `${folder === '/' ? '' : folder}/${prefix}`

/**
 * The own file at a path. Hints ask before they advise a grant that would be refused. Undefined if this path can be
 * granted. The narrowest of several files counts. `path` has its links resolved.
 */
export const ownFileAt = (path: string, access: 'read' | 'write', files: readonly OwnFile[]): OwnFile | undefined =>
  placed(files)
    .filter(({ file }) => access === 'write' || file.access === 'withheld')
    .filter(
      ({ file, place }) =>
        isWithinPath(path as AbsolutePath, place) &&
        (file.prefix === undefined || access === 'write' || path.startsWith(prefixedPath(place, file.prefix))),
    )
    .map(({ file, place }) => {
      const prefix = prefixedPath(place, file.prefix ?? '')
      return { file, rank: path.startsWith(prefix) ? prefix.length : place.length }
    })
    .sort((one, other) => other.rank - one.rank)[0]?.file

interface PlacedFile {
  readonly file: OwnFile
  readonly place: AbsolutePath
}

/** Links are resolved once for each list, because a run may report thousands of violations. */
const KNOWN_PLACES = new WeakMap<readonly OwnFile[], readonly PlacedFile[]>()

const placed = (files: readonly OwnFile[]): readonly PlacedFile[] => {
  const all = KNOWN_PLACES.get(files) ?? files.map((file) => ({ file, place: placeOf(file) }))
  KNOWN_PLACES.set(files, all)
  return all
}

/** A link of the program is a file of its own, and the rest of it has real paths. */
const placeOf = ({ path, program }: OwnFile): AbsolutePath =>
  program === undefined ? futurePathOf(parseAbsolutePath(path)) : parseAbsolutePath(path)

/** Shown in place of a grant. */
export const describeOwnFile = (path: string, { what, access, prefix }: OwnFile, who: 'command' | 'tool'): string =>
  `${path} is a file of Cordon itself (${prefix === undefined ? what : 'the audit log'}): no ${who} ` +
  `${access === 'withheld' ? 'gets it' : 'may change it'}; see docs/own-files.md`
