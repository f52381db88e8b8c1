// Lookups in the file system, as `node:fs` has them, and memories of what was found by them. The local host serves
// callers for hours, so it notices changes: each lookup leaves a stamp. A memory is valid while its stamps are
// unchanged.
import * as fs from 'node:fs'
import type { PathLike, Stats } from 'node:fs'
import { dirname } from 'node:path'

import { leadsThroughProcess } from './process-paths.js'

/** What was asked about a path: its own status, the status of its target, the names in it, or its real path. */
type Question = 'itself' | 'target' | 'names' | 'place'

interface Look {
  readonly question: Question
  readonly path: PathLike
  readonly stamp: string
}

interface Sight {
  readonly looks: Map<string, Look>
  readonly began: number
  /** Something changed so shortly before that a further change might leave the same stamp. */
  isYoung: boolean
  /** Something was no file: reading it could wait for ever, and gives each reader something else. */
  hasOdd: boolean
}

/** A clock of the kernel may tick that rarely. */
const YOUNG_MS = 50
/** To compare more stamps takes as long as to look again. */
const MOST_LOOKS = 2_000

const NOTHING = 'nothing'

let isNoticing = false
let current: Sight | undefined

/** From here on, in this process. */
export const noticeChanges = (): void => {
  isNoticing = true
}

/** Whether memories notice changes. Otherwise they are valid as long as the process. */
export const areChangesNoticed = (): boolean => isNoticing

const stampOf = (question: Question, path: PathLike, sight?: Sight): string => {
  try {
    if (question === 'place') return fs.realpathSync.native(path)
    const found = (question === 'itself' ? fs.lstatSync : fs.statSync)(path, { throwIfNoEntry: false })
    if (found === undefined) return NOTHING
    const isWhole = question === 'names' || !found.isDirectory()
    if (isWhole && sight !== undefined && Date.now() - found.ctimeMs < YOUNG_MS) sight.isYoung = true
    return isWhole ? wholeStamp(found) : identityStamp(found)
  } catch (error) {
    // What may not be seen is something else than what is not there.
    return `unseen: ${(error as NodeJS.ErrnoException).code ?? ''}`
  }
}

/** What is made in a folder does not change what the folder is. */
const identityStamp = ({ dev, ino, mode, uid, gid }: Stats): string => `${dev} ${ino} ${mode} ${uid} ${gid}`

const wholeStamp = (found: Stats): string => {
  const { size, nlink, mtimeMs, ctimeMs } = found
  return `${identityStamp(found)} ${size} ${nlink} ${mtimeMs} ${ctimeMs}`
}

/** Before the lookup itself: a change in between counts as a change after it. */
const note = (question: Question, path: PathLike): void => {
  if (current === undefined) return
  const key = `${question} ${typeof path === 'string' ? path : (path as Buffer).toString('latin1')}`
  if (!current.looks.has(key)) current.looks.set(key, { question, path, stamp: stampOf(question, path, current) })
}

const noting = <Lookup>(question: Question, lookup: Lookup): Lookup =>
  ((path: PathLike | number, ...more: readonly unknown[]) => {
    // Who opened a descriptor has looked at its path.
    if (typeof path !== 'number') note(question, path)
    return (lookup as (...given: readonly unknown[]) => unknown)(path, ...more)
  }) as Lookup

export const lstatSync = noting('itself', fs.lstatSync)
export const readlinkSync = noting('itself', fs.readlinkSync)
export const statSync = noting('target', fs.statSync)
export const existsSync = noting('target', fs.existsSync)
/** Also of a folder: a list of who may do what changes nothing else of it than its time. */
export const accessSync = noting('names', fs.accessSync)
export const openSync = noting('target', fs.openSync)
/** Of an ordinary file alone, where changes are noticed. */
const readFile = ((path: PathLike | number, ...more: readonly unknown[]) => {
  const read = fs.readFileSync as (...given: readonly unknown[]) => unknown
  if (!isNoticing || typeof path === 'number') return read(path, ...more)
  const descriptor = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  try {
    if (fs.fstatSync(descriptor).isFile()) return read(descriptor, ...more)
    if (current !== undefined) current.hasOdd = true
    throw new NotOrdinary()
  } finally {
    fs.closeSync(descriptor)
  }
}) as typeof fs.readFileSync
export const readFileSync = noting('target', readFile)
export const readdirSync = noting('names', fs.readdirSync)
export const realpathSync = noting('place', (path: string) => fs.realpathSync.native(path))

/** What was found has another meaning, or other contents, for another process. */
export class NotOrdinary extends Error {}

interface Memory<Found> {
  /**
   * What was found for this key, or what is found now. `look` may only look at the file system, and not later. Throws
   * `NotOrdinary` where changes are noticed.
   */
  readonly recall: (key: string, look: () => Found) => Found
  readonly forget: () => void
}

interface Remembered<Found> {
  readonly found: Found
  readonly sight: Sight
}

/** `most`: things that it remembers. */
export const createMemory = <Found>(most: number): Memory<Found> => {
  const entries = new Map<string, Remembered<Found>>()
  const keep = (key: string, entry: Remembered<Found>): void => {
    if (entries.size >= most && !entries.has(key)) entries.clear()
    entries.set(key, entry)
  }
  return {
    recall: (key, look) => {
      const known = entries.get(key)
      if (known !== undefined && (!isNoticing || isAsSeen(known.sight))) {
        addTo(current, known.sight)
        return known.found
      }
      const outer = current
      const sight = newSight()
      const found = lookIn(sight, outer, look)
      if (isSettled(sight)) keep(key, { found, sight })
      else entries.delete(key)
      return found
    },
    forget: () => {
      entries.clear()
    },
  }
}

/** Remembers nothing. Throws `NotOrdinary` where changes are noticed. */
export const lookOnce = <Found>(look: () => Found): Found => lookIn(newSight(), current, look)

const newSight = (): Sight => ({ looks: new Map(), began: Date.now(), isYoung: false, hasOdd: false })

const lookIn = <Found>(sight: Sight, outer: Sight | undefined, look: () => Found): Found => {
  current = isNoticing ? sight : undefined
  try {
    return look()
  } finally {
    current = outer
    addTo(outer, sight)
    // Also in place of an error: another process may see none.
    refuseOdd(sight)
  }
}

const isSettled = ({ looks, began, isYoung }: Sight): boolean =>
  !isNoticing || (!isYoung && looks.size <= MOST_LOOKS && !wereNamesMoved(looks, began))

/**
 * Whether a folder on the way to something was changed meanwhile. Two names may have been exchanged and back again, so
 * that a stamp is of the one and what was read of the other.
 */
const wereNamesMoved = (looks: Sight['looks'], began: number): boolean => {
  const folders = new Set<string>()
  for (const { path } of looks.values())
    for (let at = dirname(path.toString()); !folders.has(at); at = dirname(at)) folders.add(at)
  return [...folders].some((folder) => changedAt(folder) > began - YOUNG_MS)
}

const changedAt = (folder: string): number => {
  try {
    return fs.statSync(folder, { throwIfNoEntry: false })?.ctimeMs ?? 0
  } catch {
    return 0
  }
}

const isAsSeen = ({ looks }: Sight): boolean => {
  for (const { question, path, stamp } of looks.values()) if (stampOf(question, path) !== stamp) return false
  return true
}

const refuseOdd = ({ looks, hasOdd }: Sight): void => {
  const links = new Map<string, string | null>()
  const isOdd = ({ path }: Look): boolean => leadsThroughProcess(path.toString(), links)
  if (hasOdd || (isNoticing && [...looks.values()].some(isOdd))) throw new NotOrdinary()
}

/** What was found by looking is part of a larger look. */
const addTo = (outer: Sight | undefined, { looks, isYoung, hasOdd }: Sight): void => {
  if (outer === undefined) return
  outer.isYoung ||= isYoung
  outer.hasOdd ||= hasOdd
  for (const [key, look] of looks) if (!outer.looks.has(key)) outer.looks.set(key, look)
}
