// The mounts of a process, as /proc/PID/mountinfo lists them: see proc_pid_mountinfo(5).
import type { AbsolutePath } from '../../policy/index.js'

import { textOfName } from './file-names.js'

export interface Mount {
  readonly device: string
  /** The folder of its file system that it shows. */
  readonly root: string
  readonly point: AbsolutePath
  readonly isReadOnly: boolean
  /** The type of its file system, such as `ext4`. */
  readonly type: string
}

/**
 * In order: the last mount of a point is the one that is seen. A line is
 * `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`. `mountinfo` was read as latin1.
 */
export const mountsIn = (mountinfo: string): readonly Mount[] =>
  mountinfo.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ')
    const [, , device, root, point, options] = before.split(' ')
    const [type = ''] = after.split(' ')
    if (device === undefined || root === undefined || point === undefined || options === undefined) return []
    const place = unescaped(point) as AbsolutePath
    return [{ device, root: unescaped(root), point: place, isReadOnly: /^ro\b/.test(options), type }]
  })

/** A space, a tab, a line break and a backslash are escaped. The other bytes are read one by one. */
const unescaped = (text: string): string =>
  textOfName(
    Buffer.from(
      text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8))),
      'latin1',
    ),
  )
