import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, onTestFinished, test } from 'vitest'

import { mountsProblem, viewOfHost } from '../../src/sandbox/container/compare-mounts.js'
import type { OwnView } from '../../src/sandbox/container/compare-mounts.js'
import { readSeenMount } from '../../src/sandbox/container/hello.js'
import type { Hello, SeenMount } from '../../src/sandbox/container/hello.js'
import type { Bind } from '../../src/sandbox/container/granted-mounts.js'
import { path } from '../policy/places.js'

const BINDS: readonly Bind[] = [
  { path: path('/home/ann/project'), object: 'directory', access: 'write' },
  { path: path('/home/ann/project/.bashrc'), object: 'file', access: 'read' },
  { path: path('/home/ann/project/key'), object: 'file', access: 'hide' },
  { path: path('/home/ann/project/secret'), object: 'directory', access: 'hide' },
  { path: path('/srv/data'), object: 'directory', access: 'read' },
]
const OTHERS = ['/.cordon-launcher', '/tmp', '/volume']

const NUMBERS: Readonly<Record<string, number>> = {
  '/dev/null': 4,
  '/home/ann/project': 100,
  '/home/ann/project/.bashrc': 101,
  '/home/ann/project/key': 102,
  '/home/ann/project/secret': 103,
  '/home/ann/project/disk': 104,
  '/srv/data': 200,
  '/srv/data/disk': 201,
}
const own: OwnView = {
  bootId: 'this boot',
  numbersOf: (at) => (NUMBERS[at] === undefined ? undefined : { device: '8', inode: String(NUMBERS[at]) }),
}
const seen = (right: 'r' | 'w', inode: number, point: string): SeenMount => ({
  point,
  device: '8',
  inode: String(inode),
  isReadOnly: right === 'r',
})
const RIGHT: readonly SeenMount[] = [
  seen('r', 1, '/'),
  seen('w', 2, '/proc'),
  seen('w', 3, '/dev/shm'),
  seen('w', 5, '/tmp'),
  seen('w', 6, '/volume'),
  seen('r', 7, '/.cordon-launcher'),
  seen('r', 8, '/etc/hosts'),
  seen('w', 100, '/home/ann/project'),
  seen('r', 101, '/home/ann/project/.bashrc'),
  seen('r', 4, '/home/ann/project/key'),
  seen('r', 9, '/home/ann/project/secret'),
  seen('r', 200, '/srv/data'),
]
const helloWith = (mounts: readonly SeenMount[], bootId = own.bootId): Hello => ({
  uid: 0,
  gid: 0,
  bootId,
  program: undefined,
  entries: [],
  mounts,
})
const problem = (mounts: readonly SeenMount[]) =>
  mountsProblem({ binds: BINDS, others: OTHERS }, helloWith(mounts), own)
const withOther = (mount: SeenMount): readonly SeenMount[] =>
  RIGHT.map((right) => (right.point === mount.point ? mount : right))

describe('the mounts that a container tells', () => {
  test('are right if each shows the granted object with the granted right', () => {
    expect(problem(RIGHT)).toBeUndefined()
  })

  test.each<[string, string, readonly SeenMount[]]>([
    ['is missing', 'is missing', RIGHT.slice(0, -1)],
    ['shows another folder', 'shows something else', withOther(seen('w', 999, '/home/ann/project'))],
    [
      'shows the same number on another device',
      'something else',
      withOther({ ...seen('w', 100, '/home/ann/project'), device: '9' }),
    ],
    ['could not be seen', 'something else', withOther({ ...seen('w', 0, '/home/ann/project'), device: '0' })],
    ['shows a hidden file', 'something else', withOther(seen('r', 102, '/home/ann/project/key'))],
    ['shows a hidden folder', 'something else', withOther(seen('r', 103, '/home/ann/project/secret'))],
    ['lets a protected file be written', 'can be written', withOther(seen('w', 101, '/home/ann/project/.bashrc'))],
    ['lets a hidden folder be written', 'can be written', withOther(seen('w', 9, '/home/ann/project/secret'))],
    ['lets a readable folder be written', 'can be written', withOther(seen('w', 200, '/srv/data'))],
  ])('are refused if one %s', (_, words, mounts) => {
    expect(problem(mounts)).toMatchObject({
      code: 'profile-mismatch',
      message: expect.stringContaining(words) as string,
    })
  })

  test.each([
    ['of the engine', seen('r', 300, '/data')],
    ['inside a granted folder that is not of the host', seen('r', 300, '/home/ann/project/disk')],
    ['inside a hidden folder', seen('r', 300, '/home/ann/project/secret/x')],
    ['of the host that can be written in a folder that cannot', seen('w', 201, '/srv/data/disk')],
  ])('are refused with one more %s', (_, mount) => {
    expect(problem([...RIGHT, mount])).toMatchObject({
      code: 'container-mount-unasked',
      message: expect.stringContaining(mount.point) as string,
    })
  })

  test.each([
    ['a granted folder', seen('w', 104, '/home/ann/project/disk')],
    ['a granted folder that cannot be written', seen('r', 201, '/srv/data/disk')],
  ])('may have those of the host inside %s', (_, mount) => {
    expect(problem([...RIGHT, mount])).toBeUndefined()
  })

  test('a volume of the image inside a granted folder or at /dev is refused, and one elsewhere is not', () => {
    const volumeIn = (folder: string) =>
      mountsProblem({ binds: BINDS, others: [...OTHERS, folder] }, helloWith([...RIGHT, seen('w', 300, folder)]), own)
    expect(volumeIn('/home/ann/project/disk')).toMatchObject({ code: 'container-mount-unasked' })
    expect(volumeIn('/dev')).toMatchObject({ code: 'container-mount-unasked' })
    expect(problem([...RIGHT, seen('w', 300, '/dev')])).toBeUndefined()
    expect(volumeIn('/data')).toBeUndefined()
  })

  test('say nothing about granted paths if the container has another kernel', () => {
    const other = helloWith(RIGHT, 'another boot')
    expect(mountsProblem({ binds: BINDS, others: OTHERS }, other, own)).toMatchObject({
      code: 'container-mounts-incomparable',
    })
    const without = helloWith(RIGHT.slice(0, 7), 'another boot')
    expect(mountsProblem({ binds: [], others: OTHERS }, without, own)).toBeUndefined()
  })

  test('are refused if the launcher could not list them', () => {
    expect(mountsProblem({ binds: [], others: OTHERS }, helloWith([]), own)).toMatchObject({
      code: 'container-mounts-incomparable',
    })
  })
})

test('a mount is read from its frame, also if its path is no UTF-8', () => {
  const frame = Buffer.concat([Buffer.from('r64769\x0012\0/a b'), Buffer.of(0xff, 0)])
  expect(readSeenMount(frame)).toEqual({ point: '/a b\udcff', device: '64769', inode: '12', isReadOnly: true })
})

test('a path of the host is looked at without following links', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-view-')))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  mkdirSync(join(folder, 'real/inner'), { recursive: true })
  symlinkSync('real', join(folder, 'link'))
  const { numbersOf } = viewOfHost()
  const { dev, ino } = statSync(join(folder, 'real/inner'), { bigint: true })
  expect(numbersOf(path(join(folder, 'real/inner')))).toEqual({ device: String(dev), inode: String(ino) })
  for (const linked of ['link', 'link/inner', 'nothing']) expect(numbersOf(path(join(folder, linked)))).toBeUndefined()
})
