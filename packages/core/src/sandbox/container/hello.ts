// What the launcher says of its container before it has a plan (native/relay/hello.c, native/relay/mounts.c).
import { fail } from '../../errors/index.js'

import { textOfName } from '../grants/file-names.js'

/** An object of a file system, by its numbers in one kernel. */
export interface ObjectNumbers {
  readonly device: string
  readonly inode: string
}

/** A mount as it is seen inside the container. */
export interface SeenMount extends ObjectNumbers {
  readonly point: string
  readonly isReadOnly: boolean
}

export interface Hello {
  readonly uid: number
  readonly gid: number
  /** Of the kernel of the container. */
  readonly bootId: string
  /** Undefined if the image has no such program. */
  readonly program: string | undefined
  /** In the root of the container, without links. */
  readonly entries: readonly { readonly path: string; readonly object: 'directory' | 'file' }[]
  readonly mounts: readonly SeenMount[]
}

const VERSION = 'cordon-relay-2'

export const readHello = (payload: Buffer, mounts: readonly SeenMount[]): Hello => {
  const text = payload.toString('utf8')
  const [version, uid, gid, bootId = '', program = '', ...entries] = text.split('\0')
  if (version !== VERSION)
    throw fail('launcher-died', { how: `it speaks ${JSON.stringify(version)} instead of ${VERSION}` })
  if (!text.endsWith('\0')) throw fail('launcher-died', { how: 'the root of the image has too many names' })
  return {
    uid: Number(uid),
    gid: Number(gid),
    bootId,
    program: program === '' ? undefined : program,
    entries: entries
      .filter((entry) => entry !== '')
      .map((entry) => ({ path: entry.slice(1), object: entry.startsWith('d') ? 'directory' : 'file' })),
    mounts,
  }
}

/** The letter `r` or `w`, a device, an inode and a path. The path is bytes. */
export const readSeenMount = (payload: Buffer): SeenMount => {
  const [right = '', inode = ''] = payload.toString('latin1').split('\0')
  const point = payload.subarray(right.length + inode.length + 2, -1)
  return { point: textOfName(point), device: right.slice(1), inode, isReadOnly: right.startsWith('r') }
}
