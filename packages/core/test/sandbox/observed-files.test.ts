import { describe, expect, it } from 'vitest'

import type { AbsolutePath } from '../../src/policy/index.js'
import { refusedOpens } from '../../src/sandbox/result/observed-files.js'
import { boundaryOf, path } from '../policy/places.js'

const BOUNDARY = boundaryOf({ filesystem: { read: ['/data', '!/data/key'], write: ['/out'] } })

/** What the host has; a link as `[link, where it leads]`. */
const hostOf = (...objects: readonly (string | readonly [string, string])[]) => {
  const real = new Map(objects.map((object) => (typeof object === 'string' ? [object, object] : object)))
  return (at: AbsolutePath): Promise<AbsolutePath | undefined> =>
    Promise.resolve(real.get(at) as AbsolutePath | undefined)
}

const refused = (
  opens: readonly (readonly ['read' | 'write' | 'make' | 'new', string, 'withheld'?])[],
  realPathOf: (at: AbsolutePath) => Promise<AbsolutePath | undefined>,
) =>
  refusedOpens(
    opens.map(([access, at, withheld]) => ({ event: 'open', access, path: at, withheld: withheld !== undefined })),
    { boundary: BOUNDARY, temporary: path('/tmp'), realPathOf },
  )

describe('an observed open', () => {
  it('of an existing file without a grant was refused by the boundary', async () => {
    expect(await refused([['read', '/etc/shadow']], hostOf('/etc/shadow'))).toEqual([
      { kind: 'file', access: 'read', path: '/etc/shadow', openedAs: '/etc/shadow', reason: { kind: 'not-granted' } },
    ])
  })

  it('of a missing file was not refused', async () => {
    expect(
      await refused(
        [
          ['read', '/etc/nothing'],
          ['write', '/nowhere/f'],
          ['make', '/nowhere/f'],
          ['new', '/nowhere/f'],
          ['write', '/data/absent'],
        ],
        hostOf('/data'),
      ),
    ).toEqual([])
  })

  it('of a granted file was not refused by the boundary, but of a carved-out one it was', async () => {
    expect(
      (
        await refused(
          [
            ['read', '/data/f'],
            ['read', '/data/key'],
            ['make', '/out/f'],
          ],
          hostOf('/data/f', '/data/key', '/out'),
        )
      ).map((violation) => violation.path),
    ).toEqual(['/data/key'])
  })

  it('that would create a file is judged by its folder', async () => {
    expect(await refused([['make', '/data/new']], hostOf('/data'))).toMatchObject([
      { path: '/data/new', access: 'write' },
    ])
    expect(await refused([['new', '/data/new']], hostOf('/data'))).toMatchObject([
      { path: '/data/new', access: 'write' },
    ])
  })

  it('that would create an existing file anew would have failed on the host too', async () => {
    expect(await refused([['new', '/home/ada']], hostOf('/home', '/home/ada'))).toEqual([])
    expect(await refused([['make', '/home/ada']], hostOf('/home', '/home/ada'))).toMatchObject([
      { path: '/home/ada', access: 'write' },
    ])
  })

  it('is reported with the target of the name', async () => {
    expect(await refused([['read', '/data/link']], hostOf(['/data/link', '/secret/f']))).toMatchObject([
      { path: '/secret/f', openedAs: '/data/link' },
    ])
  })

  it('for writing a protected name is reported with the reason', async () => {
    expect(await refused([['make', '/out/.git/hooks/pre-commit']], hostOf('/out/.git/hooks'))).toMatchObject([
      { reason: { kind: 'protected', because: expect.stringContaining('hooks') as string } },
    ])
  })

  it("in the private folder or in the cell's own files is ignored", async () => {
    expect(
      await refused(
        [
          ['make', '/tmp/f'],
          ['read', '/proc/1/status'],
          ['write', '/dev/null'],
          ['read', '/dev/pts/3'],
          ['read', '/sys/fs/cgroup/memory.max'],
        ],
        hostOf('/tmp', '/proc/1/status', '/dev/null', '/dev/pts/3', '/sys/fs/cgroup/memory.max'),
      ),
    ).toEqual([])
  })

  it('for writing in a folder beneath /tmp that only the host has was refused', async () => {
    expect(
      (await refused([['make', '/tmp/project/f', 'withheld']], hostOf('/tmp/project'))).map(
        (violation) => violation.path,
      ),
    ).toEqual(['/tmp/project/f'])
    expect(await refused([['make', '/tmp/project/f']], hostOf('/tmp/project'))).toEqual([])
  })

  it('is reported once, however often it was tried', async () => {
    expect(
      (
        await refused(
          [
            ['read', '/etc/f'],
            ['read', '/etc/f'],
            ['write', '/etc/f'],
            ['read', '/etc/./f'],
          ],
          hostOf('/etc/f', '/etc'),
        )
      ).map(({ access }) => access),
    ).toEqual(['read', 'write'])
  })
})
