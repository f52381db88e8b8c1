import { fail } from '../../errors/index.js'
import type { CordonError } from '../../errors/index.js'
import { coversEndpoint, matchPaths, readUrlPath } from '../../policy/index.js'
import type { AbsolutePath, Boundary, HostGrant } from '../../policy/index.js'

import { stringsOf, describeArgumentPlace } from './mark-tree.js'
import type { ArgumentString } from './mark-tree.js'
import { readCommand } from '../commands/command-line.js'
import { existingNames } from './resolve-path.js'
import type { ListFolder, MayExist, ResolvePath } from './resolve-path.js'
import { fileStanceOf } from './file-stance.js'
import type { FileStance, PathAccess } from './file-stance.js'
import type { JsonValue } from '../input/json-value.js'
import { thrownMessage } from '../thrown-message.js'
import { hasDotDot, normalisedPath, readPaths, spellingsOf } from './path-spelling.js'
import type { PathReading } from './path-spelling.js'
import type { GateTool } from '../tool.js'
import { readUrl, renderTarget } from './url-spelling.js'
import type { UrlTarget } from './url-spelling.js'

export interface CallPath {
  /** Of the object, with links followed. */
  readonly path: AbsolutePath
  /** By the text alone. The same if there is no link on the way. */
  readonly spelled: AbsolutePath
  readonly access: PathAccess
}

type GatedArguments =
  | { readonly kind: 'denied'; readonly denial: CordonError }
  | {
      readonly kind: 'passed'
      readonly paths: readonly CallPath[]
      readonly urls: readonly UrlTarget[]
      /** Whether a path or URL was compared with the policy of the tool, and is within it. */
      readonly usedDeclaredCapability: boolean
    }

export type ArgumentGate = (input: JsonValue) => GatedArguments

// Longer than any path that a kernel opens. A longer text is still judged if it looks like a path.
const MAX_GUESS = 4096
const MAX_SHOWN = 200

/** Compares every string of the input with the policy of the tool. The first string outside of it denies the call. */
export const createArgumentGate = (
  tool: GateTool,
  resolve: ResolvePath,
  listFolder: ListFolder = () => undefined,
): ArgumentGate => {
  const isEnforced = tool.argumentGate === 'enforced'
  const files = isEnforced ? fileStanceOf(tool, listFolder) : undefined
  const network = isEnforced && !tool.noStance.includes('network') ? tool.boundary.network : undefined
  return (input) => {
    const paths: CallPath[] = []
    const urls: UrlTarget[] = []
    const strings = judgedStrings(stringsOf(input, tool.marks), tool)
    const judge: Judge = {
      tool,
      resolve,
      files,
      network,
      mayExist: existingNames(strings.length, tool.places.cwd, listFolder),
    }
    for (const string of strings) {
      const denial = judgeUrls(string, judge, urls) ?? judgePaths(string, judge, paths)
      if (denial !== undefined) return { kind: 'denied', denial }
    }
    const judged = (files === undefined ? 0 : paths.length) + (network === undefined ? 0 : urls.length)
    return { kind: 'passed', paths, urls, usedDeclaredCapability: judged > 0 }
  }
}

interface Judge {
  readonly tool: GateTool
  readonly resolve: ResolvePath
  readonly mayExist: MayExist
  readonly files: FileStance | undefined
  readonly network: GateTool['boundary']['network'] | undefined
}

const judgedStrings = (strings: readonly ArgumentString[], tool: GateTool): readonly ArgumentString[] =>
  strings.every(({ marks }) => marks.size === 0) ? strings : strings.flatMap((given) => withoutSafeText(given, tool))

/** Content is not judged. A command is judged word by word if no cell confines it. */
const withoutSafeText = (string: ArgumentString, tool: GateTool): readonly ArgumentString[] => {
  if (string.marks.has('text')) return []
  if (!string.marks.has('command')) return [string]
  if (tool.runs === 'sandboxed') return []
  const { parts, mentioned } = readCommand(string.text)
  return [...parts, { words: mentioned }].flatMap(({ words }) =>
    words.map(({ text }) => ({ ...string, text, isCertainOnly: true })),
  )
}

const judgeUrls = (string: ArgumentString, { tool, network }: Judge, urls: UrlTarget[]): CordonError | undefined => {
  const { text, marks } = string
  const isUrl = marks.has('url')
  if (!isUrl && (marks.has('path-read') || marks.has('path-write'))) return undefined
  const spellings = isUrl ? [text] : text.includes(':') || text.includes('%') ? spellingsOf(text) : []
  for (const spelling of spellings) {
    const reading = readUrl(spelling, isUrl)
    if (reading.kind === 'none') continue
    if (reading.kind === 'unreadable') {
      if (network === undefined || network.kind === 'all') return undefined
      return fail('argument-unreadable', {
        where: describeArgumentPlace(string),
        given: shown(text),
        problem: reading.problem,
      })
    }
    if (network !== undefined && !mayReach(network, reading.target)) {
      return fail('argument-url-denied', {
        where: describeArgumentPlace(string),
        target: renderTarget(reading.target),
        tool: tool.name,
        granted: grantedHosts(network),
        fix: `grant the host (network), ${UNLESS_TEXT} fetched`,
      })
    }
    urls.push(reading.target)
    // A text that is a URL is not read in another spelling, because its escapes are part of the URL.
    return undefined
  }
  return undefined
}

const UNLESS_TEXT = 'or mark the parameter with text() if it is content that is never'

const grantedHosts = (network: GateTool['boundary']['network']): string =>
  network.kind === 'hosts'
    ? network.entries.map(({ action, text }) => (action === 'deny' ? `not ${text}` : text)).join(' ')
    : 'nothing'

const judgePaths = (string: ArgumentString, judge: Judge, paths: CallPath[]): CordonError | undefined => {
  const { text, marks } = string
  const accesses = accessesOf(string)
  if (accesses.length === 0) return undefined
  const found = readPaths(text, judge.tool.places, marks.has('path-read') || marks.has('path-write'))
  const unreadable = (problem: string) =>
    judge.files === undefined
      ? undefined
      : fail('argument-unreadable', { where: describeArgumentPlace(string), given: shown(text), problem })
  if (found.kind === 'unreadable') return unreadable(found.problem)
  for (const reading of found.readings) {
    if (reading.isGuess && isJustText(reading, string, judge)) continue
    for (const each of hasDotDot(reading.path)
      ? [reading, { ...reading, path: normalisedPath(reading.path) ?? reading.path }]
      : [reading]) {
      const object = lookUp(each, string, judge)
      if (object.kind === 'just-text') continue
      if (object.kind === 'unknown') {
        const denial = unreadable(object.problem)
        if (denial !== undefined) return denial
        continue
      }
      for (const access of accesses) {
        if (judge.files?.allows(object.path, access) === false)
          return pathDenial(string, object.path, access, judge, judge.files)
        paths.push({ path: object.path, spelled: object.spelled, access })
      }
    }
  }
  return undefined
}

const UNMARKED: readonly PathAccess[] = ['any']

/** A parameter marked as a URL is not opened as a file. */
const accessesOf = ({ marks }: ArgumentString): readonly PathAccess[] => {
  if (marks.size === 0) return UNMARKED
  const marked = (['read', 'write'] as const).filter((access) => marks.has(`path-${access}`))
  if (marked.length > 0) return marked
  return marks.has('url') ? [] : UNMARKED
}

type Found =
  | { readonly kind: 'path'; readonly path: AbsolutePath; readonly spelled: AbsolutePath }
  | { readonly kind: 'just-text' }
  | { readonly kind: 'unknown'; readonly problem: string }

const isJustText = ({ path }: PathReading, { isCertainOnly, text }: ArgumentString, judge: Judge): boolean =>
  isCertainOnly || text.length > MAX_GUESS || !judge.mayExist(path)

/**
 * A word is a relative path if the file exists. It also is one if the tool could create the file in an existing folder,
 * where no cell confines the tool.
 */
const lookUp = ({ path, isGuess }: PathReading, { text }: ArgumentString, { tool, resolve }: Judge): Found => {
  const spelled = normalisedPath(path)
  if (spelled === undefined) return { kind: 'unknown', problem: 'it leads above the root' }
  const object = resolveSafely(resolve, path)
  // A link that leads nowhere can be written through.
  if (object.kind === 'unknown') return isGuess ? { kind: 'just-text' } : object
  const couldCreate = tool.runs === 'in-process' && text.includes('/') && object.parentExists
  if (isGuess && !object.exists && !couldCreate) return { kind: 'just-text' }
  return { kind: 'path', path: object.path, spelled }
}

const resolveSafely = (resolve: ResolvePath, path: string): ReturnType<ResolvePath> => {
  try {
    return resolve(path)
  } catch (error) {
    return { kind: 'unknown', problem: thrownMessage(error) }
  }
}

const ACCESS_WORDS: Readonly<Record<PathAccess, string>> = { read: 'read', write: 'write', any: 'use' }

const pathDenial = (
  string: ArgumentString,
  path: AbsolutePath,
  access: PathAccess,
  { tool }: Judge,
  files: FileStance,
): CordonError =>
  fail('argument-path-denied', {
    where: describeArgumentPlace(string),
    path,
    given: shown(string.text),
    tool: tool.name,
    access: ACCESS_WORDS[access],
    granted: files.granted(access),
    fix: `grant it (filesystem.${access === 'any' ? 'read or .write' : access})${string.marks.size === 0 ? `, ${UNLESS_TEXT} opened` : ''}`,
  })

/** The text of the model, cut for a message. */
const shown = (text: string): string => JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)

/** Whether the network grants of a tool permit a URL. A URL has no method, so only the proxy checks methods. */
const mayReach = (network: Boundary['network'], target: UrlTarget): boolean => {
  switch (network.kind) {
    case 'none':
      return false
    case 'all':
      return true
    case 'hosts': {
      const about = network.entries.filter((entry) => isAbout(entry, target))
      return (
        about.some(({ action }) => action !== 'deny') &&
        !about.some((entry) => entry.action === 'deny' && entry.methods.kind === 'all')
      )
    }
  }
}

const isAbout = (entry: HostGrant, target: UrlTarget): boolean =>
  coversEndpoint(entry, target.host, target.port) && pathMatches(entry, target.path)

/**
 * A grant must match every reading of the path, a denial only one. An ambiguous path fits no grant and every denial.
 */
const pathMatches = (entry: HostGrant, path: string): boolean => {
  const matches = matchPaths(entry)
  if (matches === undefined) return true
  const readings = readUrlPath(path)
  if (readings === 'ambiguous') return entry.action === 'deny'
  return entry.action === 'deny' ? readings.some(matches) : readings.every(matches)
}
