import { CordonError, codeOf, fail, reasonOf } from '../../errors/index.js'

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
