// Every path that a tool may open for a string. The gate cannot know whether the tool trims, decodes or expands the
// string first, so it judges each reading.
import { parseAbsolutePath } from '../../policy/index.js'
import type { AbsolutePath } from '../../policy/index.js'

export interface CellPlaces {
  readonly cwd: AbsolutePath
  readonly home: AbsolutePath
}

export interface PathReading {
  /** Absolute, with `..` and doubled slashes, because links on the way decide their meaning. */
  readonly path: string
  /** Perhaps a relative path, perhaps just a word. */
  readonly isGuess: boolean
}

type PathReadings =
  | { readonly kind: 'readings'; readonly readings: readonly PathReading[] }
  | { readonly kind: 'unreadable'; readonly problem: string }

class Unreadable extends Error {}

/** `isPath`: the parameter is marked as a path, so a bare word is a relative path. */
export const readPaths = (text: string, places: CellPlaces, isPath: boolean): PathReadings => {
  try {
    const spellings = spellingsOf(text)
    if (spellings.length === 1) {
      const only = readSpelling(text, places, isPath)
      return { kind: 'readings', readings: only === undefined ? [] : [only] }
    }
    const readings = new Map<string, PathReading>()
    for (const spelling of spellings) {
      const reading = readSpelling(spelling, places, isPath)
      if (reading === undefined) continue
      const before = readings.get(reading.path)
      readings.set(reading.path, before === undefined || before.isGuess ? reading : before)
    }
    return { kind: 'readings', readings: [...readings.values()] }
  } catch (error) {
    if (error instanceof Unreadable) return { kind: 'unreadable', problem: error.message }
    throw error
  }
}

const OPTION_VALUE = /^--?[A-Za-z0-9][\w-]*=(?<value>[^]+)$/
const ESCAPES = /(%[0-9a-f]{2})+/gi
const MAX_DECODINGS = 3

/** The text itself, trimmed, percent-decoded, and the value of `--option=value`. */
export const spellingsOf = (text: string): readonly string[] => {
  const spellings = [text]
  if (isPlainSpelling(text)) return spellings
  const add = (spelling: string) => {
    if (!spellings.includes(spelling)) spellings.push(spelling)
  }
  add(trimInvisible(text))
  const value = text.startsWith('-') ? OPTION_VALUE.exec(text)?.groups?.['value'] : undefined
  if (value !== undefined) add(value)
  for (let at = 0; at < spellings.length && at < 2 * MAX_DECODINGS; at += 1) {
    const spelling = spellings[at] ?? ''
    if (spelling.includes('%')) add(decodePercent(spelling))
  }
  return spellings
}

const isPlainSpelling = (text: string): boolean =>
  !text.includes('%') && !text.startsWith('-') && !isInvisibleAt(text, 0) && !isInvisibleAt(text, text.length - 1)

const isInvisibleAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return !(code > 0x20 && code < 0x7f) && INVISIBLE.test(text.charAt(at))
}

const INVISIBLE = /[\s\u200b-\u200f\u2060\ufeff]/

/** Character by character, because a regular expression for the end takes quadratic time on a long text. */
const trimInvisible = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && INVISIBLE.test(text.charAt(start))) start += 1
  while (end > start && INVISIBLE.test(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/** Decodes all escapes. "100%" stays as it is. */
const decodePercent = (text: string): string =>
  text.replace(ESCAPES, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      // Not UTF-8. Byte by byte, slashes and dots are still decoded.
      return escapes.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    }
  })

const FILE_URL = /^file:(?=\S)/i
const FILE_URL_PATH = /^file:(?:\/\/(?:localhost)?(?=\/))?(?<path>[^]*)$/i
const HOME_OF_ANOTHER = /^~[A-Za-z_][\w.-]*(\/|$)/
const DOT_SEGMENT = /(^|\/)\.\.(\/|$)|^\.(\/|$)/

const readSpelling = (spelling: string, { cwd, home }: CellPlaces, isPath: boolean): PathReading | undefined => {
  if (spelling.includes('\0')) throw new Unreadable('it contains a NUL byte')
  if (spelling.startsWith('/')) return certain(spelling)
  if (FILE_URL.test(spelling)) return certain(pathOfFileUrl(spelling))
  if (spelling === '~' || spelling.startsWith('~/')) return certain(`${home}${spelling.slice(1)}`)
  if (HOME_OF_ANOTHER.test(spelling)) throw new Unreadable('it names the home of another user')
  const path = `${cwd}/${spelling}`
  if (isPath || DOT_SEGMENT.test(spelling)) return certain(path)
  return spelling === '' ? undefined : { path, isGuess: true }
}

const certain = (path: string): PathReading => ({ path, isGuess: false })

const pathOfFileUrl = (url: string): string => {
  const path = FILE_URL_PATH.exec(url)?.groups?.['path'] ?? ''
  if (path.startsWith('//')) throw new Unreadable('it is a file: URL of another host')
  return path.startsWith('/') ? path : `/${path}`
}

// The empty name, "." and "..", also at the end. Few paths have one.
const NOT_NORMAL = /\/\.{0,2}(\/|$)|\0/

/** By the text alone. Undefined if it leads above the root. */
export const normalisedPath = (path: string): AbsolutePath | undefined => {
  if (path.startsWith('/') && !NOT_NORMAL.test(path)) return path as AbsolutePath
  try {
    return parseAbsolutePath(path)
  } catch {
    return undefined
  }
}

export const hasDotDot = (path: string): boolean => path.includes('/..')
