// What data tools can read, send and hand to each other. Workspace and home have their usual position: the workspace is
// somewhere in the home folder, and no pattern names its folder.
import type { FileGrants, ToolPolicy } from '../model.js'
import { PROTECTION, SIDES, accessTrie, addProtection } from './access-bits.js'
import { compileNetwork, entriesOf } from './compile-network.js'
import { hostRepresentatives, portRepresentatives } from './destination-classes.js'
import { newEffort } from './effort.js'
import { readBeyond, readable, writable } from './files-within.js'
import { and, findPath } from './find-path.js'
import type { PathFound } from './find-path.js'
import { getOrAdd } from '../get-or-add.js'
import type { PathGlob } from '../glob/path-glob.js'
import { bindGlob, patternText } from '../glob/path-pattern.js'
import type { PathPattern } from '../glob/path-pattern.js'
import { coversEndpoint } from '../network/covers-host.js'
import type { Endpoint } from '../network/host-grant.js'
import { renderHost } from '../network/network-request.js'
import { isReadable, isWritable } from '../resolve/access.js'
import { boundPresets, requestScopeOf, resolveFiles } from '../resolve/resolve-policy.js'
import { USUAL_PLACES, pathIn } from './symbolic-places.js'

/** `undecided`: an exact answer would take too long. Treat it as a path. */
export type FileFound = { readonly kind: 'path'; readonly path: string } | { readonly kind: 'undecided' }

const grantsOf = (policy: ToolPolicy): FileGrants => resolveFiles(policy, USUAL_PLACES)

/** A file that a tool may read, and that is neither part of the system nor among `known`. */
export const readableBesides = (policy: ToolPolicy, known: readonly PathGlob[]): FileFound | undefined => {
  const grants = { ...grantsOf(policy), presetRead: [] }
  const granted = [...grants.read, ...grants.write].filter(({ negated }) => !negated)
  if (granted.length === 0) return undefined
  const witness = readBeyond(grants, {
    read: known.flatMap((glob) => bindGlob(glob, USUAL_PLACES)),
    write: [],
    presetRead: nearPresets(granted),
  })
  if (witness === undefined) return undefined
  return witness.kind === 'file' ? shown(witness.path) : { kind: 'undecided' }
}

const shown = (path: string): FileFound => ({ kind: 'path', path: pathIn(USUAL_PLACES, path).path })

export interface ReachedEndpoint {
  /** A name, or an IP address. */
  readonly host: string
  readonly port: number
}

/** A destination to which a tool may open a connection, and that is not among `known`. */
export const reachableBesides = (policy: ToolPolicy, known: readonly Endpoint[]): ReachedEndpoint | undefined => {
  const scope = requestScopeOf(policy)
  if (scope.network.kind === 'none') return undefined
  const [entries, network] = [entriesOf(scope), compileNetwork(scope)]
  // Of all hosts, an unknown one says more than one that a tag names.
  const first = scope.network.kind === 'all' ? hostRepresentatives([]) : []
  for (const host of [...first, ...hostRepresentatives([...entries, ...known])]) {
    for (const port of portRepresentatives([...entries, ...known])) {
      if (network.connection(host, port) !== undefined && !known.some((each) => coversEndpoint(each, host, port)))
        return { host: renderHost(host), port }
    }
  }
  return undefined
}

export interface HandedOver {
  /** The place of the reader in the list. */
  readonly reader: number
  readonly file: FileFound
}

/** Finds a file that a tool may write and one of the readers may read. */
export const handOverTo = (readers: readonly ToolPolicy[]): ((writer: ToolPolicy) => HandedOver | undefined) => {
  const to = readers.map(grantsOf)
  const near = indexReading(to)
  return (writer) => {
    const from = grantsOf(writer)
    const written = from.write.filter(({ negated }) => !negated)
    // First all readers at once and without their carve-outs, which mostly decides.
    const reading = near(written)
    const found = reading.length === 0 ? undefined : sharedPath(from, { read: reading, write: [], presetRead: [] })
    if (found === undefined) return undefined
    const reader = found.kind === 'path' ? to.findIndex((each) => isReadable(each, found.path)) : -1
    if (found.kind === 'path' && reader !== -1) return { reader, file: shown(found.path) }
    for (const [at, each] of to.entries()) {
      const shared = sharedPath(from, each)
      if (shared !== undefined) return { reader: at, file: shared.kind === 'path' ? shown(shared.path) : shared }
    }
    return undefined
  }
}

/** Two patterns can only match one path if the fixed beginning of one of them begins with that of the other. */
const indexReading = (
  readers: readonly FileGrants[],
): ((written: readonly PathPattern[]) => readonly PathPattern[]) => {
  const byBase = new Map<string, Map<string, PathPattern>>()
  for (const { read, write, presetRead } of readers)
    for (const pattern of [...read, ...write, ...presetRead])
      if (!pattern.negated)
        getOrAdd(byBase, folderText(pattern), () => new Map<string, PathPattern>()).set(patternText(pattern), pattern)
  const bases = [...byBase.keys()].sort()
  return (written) => {
    const found = new Set<string>()
    for (const folder of written.map(folderText)) {
      for (let end = 0; end !== -1; end = folder.indexOf('/', end + 1)) found.add(folder.slice(0, end + 1))
      for (let at = firstFrom(bases, folder); bases[at]?.startsWith(folder) === true; at += 1)
        found.add(bases[at] ?? '')
    }
    return [...found].flatMap((base) => [...(byBase.get(base)?.values() ?? [])])
  }
}

const folderText = ({ base }: PathPattern): string => (base === '/' ? base : `${base}/`)

const nearPresets = indexReading([
  { read: [], write: [], presetRead: boundPresets(['system', 'toolchains'], 'read', USUAL_PLACES) },
])

/** The place of the first text that is not before `text`. */
const firstFrom = (sorted: readonly string[], text: string): number => {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? '') < text) low = middle + 1
    else high = middle
  }
  return low
}

/** First without protected names, which is faster, mostly decides, and finds ordinary names. */
const sharedPath = (writer: FileGrants, reader: FileGrants): Exclude<PathFound, { kind: 'none' }> | undefined => {
  const grants = { ...writer, presetRead: [] }
  const effort = newEffort()
  const search = (isProtected: boolean): PathFound => {
    const trie = accessTrie(grants, reader)
    if (isProtected) addProtection(trie, { a: writer.write })
    const wanted = and(writable(SIDES.a), readable(SIDES.b))
    return findPath({ ...PROTECTION, root: trie.build(), wanted, needed: SIDES.a.grantWrite }, effort)
  }
  const first = search(false)
  const found = first.kind === 'path' && !isWritable(grants, first.path) ? search(true) : first
  return found.kind === 'none' ? undefined : found
}
