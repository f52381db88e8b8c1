import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs'
import type { Stats } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

import { CordonError, codeOf, fail, reasonOf } from '../../errors/index.js'
import { makeFolders, quotedWord } from '../../platform/index.js'

import type { OwnFile } from '../own-files/own-file.js'

/** Log and anchor. Only their owner can write to their folders. */
export interface AuditPlaces {
  readonly log: string
  readonly anchor: string
}

export const anchorOf = (log: string): string => `${log}.anchor`

/** The name of a full file. `1` is the oldest. */
export const fullFile = (log: string, file: number): string => `${log}.${String(file).padStart(6, '0')}`

/** The name of a file for the rest of an unfinished line. */
export const tornFile = (log: string, sequence: number, attempt: number): string =>
  `${log}.torn.${sequence}${attempt === 0 ? '' : `.${attempt}`}`

/** The full files, oldest first. */
export const listFullFiles = (log: string): readonly { readonly file: number; readonly path: string }[] => {
  const prefix = `${basename(log)}.`
  return readdirSync(dirname(log))
    .filter((name) => name.startsWith(prefix) && /^\d{6,}$/.test(name.slice(prefix.length)))
    .map((name) => ({ file: Number(name.slice(prefix.length)), path: join(dirname(log), name) }))
    .toSorted((a, b) => a.file - b.file)
}

/** The path of a log or anchor with the real path of its folder, which is made if it is missing. */
export const preparePath = (path: string): string => {
  const absolute = resolve(path)
  makeFolders(dirname(absolute), 0o700)
  const folder = realpathSync(dirname(absolute))
  const { mode, uid } = statSync(folder)
  const unsafe = (problem: string) =>
    fail('audit-unsafe-path', {
      path,
      problem,
      fix: `give it a folder of its own, such as one made by: mkdir -m 700 ${join(folder, 'audit')}`,
    })
  if (!isOwn(uid)) throw unsafe(`the folder ${folder} belongs to another user, who could replace it`)
  if ((mode & OTHERS_WRITE) !== 0) throw unsafe(`other users can write to the folder ${folder}`)
  return join(folder, basename(absolute))
}

const OTHERS_WRITE = 0o022

const isOwn = (uid: number): boolean => uid === 0 || process.geteuid === undefined || uid === process.geteuid()

export interface OpenFile {
  readonly descriptor: number
  readonly inode: number
  readonly device: number
}

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Follows no link, and refuses a file that another user could have put there. */
export const openLogFile = (path: string, which: 'new' | 'existing'): OpenFile => {
  const descriptor = openSync(path, which === 'new' ? FLAGS | constants.O_CREAT | constants.O_EXCL : FLAGS, 0o600)
  try {
    const stats = fstatSync(descriptor)
    const unsafe = (problem: string, fix = 'move it away, or name another file') =>
      fail('audit-unsafe-path', { path, problem, fix })
    if (!stats.isFile()) throw unsafe('it is no ordinary file')
    if (!isOwn(stats.uid)) throw unsafe('it belongs to another user')
    if (stats.nlink > 1)
      throw unsafe('it has a second name (a hard link), through which it could be changed', otherName(path))
    if ((stats.mode & 0o777) !== 0o600) fchmodSync(descriptor, 0o600)
    return { descriptor, inode: stats.ino, device: stats.dev }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Moving the log away would keep both names. Only names on its own file system can be of the same file. */
const otherName = (path: string): string =>
  `find the other name, and delete it: find ~ -xdev -samefile ${quotedWord(path)}; or name another file`

export const statOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false })

export const isSameFile = (stats: Stats, { inode, device }: OpenFile): boolean =>
  stats.ino === inode && stats.dev === device

/** Somebody changed the log, and a writer noticed. */
export const broken = (path: string, problem: string): CordonError => fail('audit-broken', { path, problem })

const WAYS_OUT: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space on its disk',
  EDQUOT: 'free some space: the quota of this user is used up',
  EFBIG: 'raise the limit on file sizes (ulimit -f), or rotate earlier',
  EROFS: 'name a file on a disk that can be written',
  EACCES: 'name a file in a folder that this user may write to',
  EPERM: 'name a file in a folder that this user may write to',
  ENOENT: 'name a file in a folder that can be made; if its folder was removed, put it back, or open the log again',
  ENOTDIR: 'name a file whose folder is a folder',
  EISDIR: 'name a file, not a folder',
}

/** Turns an error of the file system into one of Cordon's. */
export const unwritable = (path: string, error: unknown): CordonError => {
  if (error instanceof CordonError) return error
  const code = codeOf(error) ?? ''
  if (code === 'ELOOP' || code === 'EMLINK')
    return fail('audit-unsafe-path', { path, problem: 'it is a symbolic link', fix: 'name the file itself' }, error)
  const fix = WAYS_OUT[code] ?? 'see to it that the file can be written'
  return fail('audit-unwritable', { path, problem: reasonOf(error), fix }, error)
}

/** Log and anchor, and the files whose names begin like theirs: full files, torn lines, locks. */
export const auditOwnFiles = ({ log, anchor }: AuditPlaces): readonly OwnFile[] =>
  [log, anchor].map((path) => ({
    path: dirname(path),
    prefix: basename(path),
    access: 'withheld',
    what: `the folder of the audit log ${log}`,
    fix: 'give the log a folder of its own, outside of what is granted: CORDON_AUDIT=FOLDER/audit.jsonl',
  }))
