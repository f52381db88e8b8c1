// What data tools can read, send and hand to each other. Workspace and home have their usual position: the workspace is
// somewhere in the home folder, and no pattern names its folder.
import { SIDES, addAccess, addProtection, possibleBits, protectionBits } from './access-bits.js'
import type { ProtectionMark } from './access-bits.js'
import type { FileGrants } from '../boundary.js'
import { compileNetwork, entriesOf } from './compile-network.js'
import { hostRepresentatives, portRepresentatives } from './destination-classes.js'
import { newEffort } from './effort.js'
import { readBeyond, readable, writable } from './files-within.js'
import { findPath } from './find-path.js'
import type { PathFound } from './find-path.js'
import { and } from './formula.js'
import { parsePathGlob } from '../glob/path-glob.js'
import type { PathGlob } from '../glob/path-glob.js'
import { bindGlob } from '../glob/path-pattern.js'
import type { PathPattern } from '../glob/path-pattern.js'
import type { ToolPolicy } from '../model.js'
import { coversEndpoint } from '../network/covers-host.js'
import { denialOfAddress } from '../network/dialled-address.js'
import type { Endpoint } from '../network/host-grant.js'
import { indexHosts } from '../network/host-index.js'
import { renderIpAddress } from '../network/ip-address.js'
import { createTrie } from './path-trie.js'
import { isReadable, isWritable } from '../resolve/access.js'
import { assessEgressClass } from '../resolve/assess.js'
import { PRESETS } from '../resolve/presets.js'
import { resolveNetwork, resolvePolicy } from '../resolve/resolve-policy.js'
import { USUAL_PLACES, pathIn } from './symbolic-places.js'

/** `undecided`: an exact answer would take too long. Treat it as a path. */
export type FileFound = { readonly kind: 'path'; readonly path: string } | { readonly kind: 'undecided' }

const grantsOf = (policy: ToolPolicy): FileGrants => resolvePolicy(policy, { ...USUAL_PLACES, kind: 'function' })

/** The presets that only grant programs, libraries and settings without secrets. */
const OF_THE_SYSTEM: readonly PathPattern[] = (['system', 'toolchains'] as const).flatMap((name) =>
  PRESETS[name].read.flatMap((text) => bindGlob(parsePathGlob(text, name), USUAL_PLACES)),
)

/** A file that a tool may read, and that is neither part of the system nor among `known`. */
export const readableBesides = (policy: ToolPolicy, known: readonly PathGlob[]): FileFound | undefined => {
  const witness = readBeyond(
    { ...grantsOf(policy), presetRead: [] },
    { read: known.flatMap((glob) => bindGlob(glob, USUAL_PLACES)), write: [], presetRead: OF_THE_SYSTEM },
  )
  if (witness === undefined) return undefined
  return witness.kind === 'file' ? { kind: 'path', path: shown(witness.path) } : { kind: 'undecided' }
}

const shown = (path: string): string => pathIn(USUAL_PLACES, path).path

export interface Reached {
  /** A name, or an IP address. */
  readonly host: string
  readonly port: number
}

/** A destination to which a tool may open a connection, and that is not among `known`. */
export const reachableBesides = (policy: ToolPolicy, known: readonly Endpoint[]): Reached | undefined => {
  const scope = { network: resolveNetwork(policy.network), egressClass: assessEgressClass(policy) }
  if (scope.network.kind === 'none') return undefined
  const entries = entriesOf(scope)
  const [network, about] = [compileNetwork(scope), indexHosts(entries)]
  // Of all hosts, an unknown one says more than one that a tag names.
  const first = scope.network.kind === 'all' ? hostRepresentatives([]) : []
  for (const host of [...first, ...hostRepresentatives([...entries, ...known])]) {
    for (const port of portRepresentatives([...entries, ...known])) {
      if (network.connection(host, port) === undefined || known.some((each) => coversEndpoint(each, host, port)))
        continue
      if (host.kind === 'name') return { host: host.name, port }
      if (denialOfAddress(about, host.address, port) === undefined) return { host: renderIpAddress(host.address), port }
    }
  }
  return undefined
}

export interface HandedOver {
  /** The place of the reader in the list. */
  readonly reader: number
  readonly file: FileFound
}

/** A file that one tool may write and one of the others may read. */
export const writtenForReaders = (writer: ToolPolicy, readers: readonly ToolPolicy[]): HandedOver | undefined => {
  const from = grantsOf(writer)
  if (!from.write.some(({ negated }) => !negated)) return undefined
  const to = readers.map(grantsOf)
  // First all readers at once and without their carve-outs, which mostly decides.
  const found = sharedPath(from, joined(to))
  if (found === undefined) return undefined
  const reader = found.kind === 'path' ? to.findIndex((each) => isReadable(each, found.path)) : -1
  if (found.kind === 'path' && reader !== -1) return { reader, file: { kind: 'path', path: shown(found.path) } }
  for (const [at, each] of to.entries()) {
    const shared = sharedPath(from, each)
    if (shared !== undefined)
      return { reader: at, file: shared.kind === 'path' ? { kind: 'path', path: shown(shared.path) } : shared }
  }
  return undefined
}

const joined = (readers: readonly FileGrants[]): FileGrants => {
  const all = (of: keyof FileGrants): readonly PathPattern[] => {
    const granted = readers.flatMap((each) => each[of]).filter(({ negated }) => !negated)
    return [...new Map(granted.map((pattern) => [`${pattern.kind} ${pattern.path}`, pattern])).values()]
  }
  return { read: all('read'), write: all('write'), presetRead: all('presetRead') }
}

/** First without protected names, which is faster, mostly decides, and finds ordinary names. */
const sharedPath = (writer: FileGrants, reader: FileGrants): Exclude<PathFound, { kind: 'none' }> | undefined => {
  const grants = { ...writer, presetRead: [] }
  const effort = newEffort()
  const search = (isProtected: boolean): PathFound => {
    const trie = createTrie<ProtectionMark>()
    addAccess(trie, 'a', grants)
    addAccess(trie, 'b', reader)
    if (isProtected) addProtection(trie, { a: writer.write })
    return findPath(
      {
        root: trie.build(),
        wanted: and(writable(SIDES.a), readable(SIDES.b)),
        needed: SIDES.a.grantWrite,
        settle: protectionBits,
        possible: possibleBits,
      },
      effort,
    )
  }
  const first = search(false)
  const found = first.kind === 'path' && !isWritable(grants, first.path) ? search(true) : first
  return found.kind === 'none' ? undefined : found
}
