// Lookups in the file system, as `node:fs` has them, and memories of what was found by them. Who serves many callers
// for hours notices changes: then each lookup leaves a stamp, and a memory is valid while all its stamps are.
import * as fs from 'node:fs'
import type { PathLike, Stats } from 'node:fs'

/** What of a path was asked for: itself, what it leads to, the names in it, or where that really is. */
type Question = 'itself' | 'target' | 'names' | 'place'

interface Look {
  readonly question: Question
  readonly path: PathLike
  readonly stamp: string
}

interface Sight {
  readonly looks: Map<string, Look>
  /** Something changed so shortly before that a further change might leave the same stamp. */
  isYoung: boolean
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
  } catch {
    return NOTHING
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
export const accessSync = noting('target', fs.accessSync)
export const openSync = noting('target', fs.openSync)
export const readFileSync = noting('target', fs.readFileSync)
export const readdirSync = noting('names', fs.readdirSync)
export const realpathSync = noting('place', (path: string) => fs.realpathSync.native(path))

interface Memory<Found> {
  /** What was found for this key, or what is found now. `look` may only look at the file system, and not later. */
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
    if (entries.size >= most) entries.clear()
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
      const sight: Sight = { looks: new Map(), isYoung: false }
      current = isNoticing ? sight : undefined
      try {
        const found = look()
        if (!sight.isYoung && sight.looks.size <= MOST_LOOKS) keep(key, { found, sight })
        else entries.delete(key)
        return found
      } finally {
        current = outer
        addTo(outer, sight)
      }
    },
    forget: () => {
      entries.clear()
    },
  }
}

const isAsSeen = ({ looks }: Sight): boolean => {
  for (const { question, path, stamp } of looks.values()) if (stampOf(question, path) !== stamp) return false
  return true
}

/** What was found by looking is part of a larger look. */
const addTo = (outer: Sight | undefined, { looks, isYoung }: Sight): void => {
  if (outer === undefined) return
  outer.isYoung ||= isYoung
  for (const [key, look] of looks) if (!outer.looks.has(key)) outer.looks.set(key, look)
}
