import { resolve } from 'node:path'

import type { AbsolutePath, Boundary } from '../policy/index.js'
import { isReadable, isWritable, protectionOf } from '../policy/index.js'
import type { RefusedOpen } from '../sandbox/index.js'

import type { ThrownError } from './function-cell/messages.js'
import { resolveOnHost } from './host-paths.js'

const REFUSALS: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS'])
const WRITING: ReadonlySet<string> = new Set(['mkdir', 'rmdir', 'unlink', 'rename', 'link', 'symlink', 'chmod', 'chown', 'utime', 'truncate', 'ftruncate', 'copyfile', 'mkdtemp', 'rm'])
// An error of open() does not say what for; the function of Node that called it does.
const WRITING_FRAME = /^\s*at (?:async )?(?:\w+\.)?(?:write|append)File(?:Sync)? \(node:/m

/**
 * JavaScript says itself which file it was refused. That is a violation and no result, also when the
 * file seems not to be there: what is not granted does not exist in a cell, whether it exists or not.
 */
export const refusedAccess = (boundary: Boundary, cwd: AbsolutePath, { code, syscall, path, stack }: ThrownError): RefusedOpen | undefined => {
  // A program that may not be started is told by the cell itself, and is no file to be written.
  if (code === undefined || path === undefined || syscall?.startsWith('spawn') === true) return undefined
  const named = resolve(cwd, path)
  const found = resolveOnHost(named)
  const object = (found.kind === 'object' ? found.path : named) as AbsolutePath
  const access = code === 'EROFS' || WRITING.has(syscall ?? '') || WRITING_FRAME.test(stack) || isReadable(boundary, object) ? 'write' : 'read'
  const isGranted = access === 'write' ? isWritable(boundary, object) : isReadable(boundary, object)
  if (isGranted || !(REFUSALS.has(code) || code === 'ENOENT')) return undefined
  const protection = access === 'write' ? protectionOf(boundary.write, object) : undefined
  return {
    kind: 'file',
    access,
    path: object,
    openedAs: path,
    reason: protection === undefined ? { kind: 'not-granted' } : { kind: 'protected', because: protection.entry.because },
  }
}
