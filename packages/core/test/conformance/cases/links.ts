import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'

import { expect } from 'vitest'

import { area } from '../claim.js'
import type { Area } from '../claim.js'
import { textOf } from '../stage.js'

const TREE = {
  '@/data/file': 'inside',
  '@/data/to-file': { link: 'file' },
  '@/data/to-secret': { link: '@/secret/key' },
  '@/data/to-folder': { link: '@/secret' },
  '@/data/dangling': { link: '@/nowhere' },
  '@/secret/key': 'secret',
}

export const links: Area = area('Links', [
  {
    claim: 'a link inside a granted folder works, and one that leads out does not',
    given: TREE,
    policy: { filesystem: { read: ['@/data'] } },
    can: [
      ['read', '@/data/to-file'],
      ['see', '@/data/dangling'],
    ],
    cannot: [
      ['read', '@/data/to-secret'],
      ['read', '@/data/to-folder/key'],
      ['read', '@/secret/key'],
      ['read', '@/data/dangling'],
    ],
  },
  {
    claim: 'a link that leads out of a write root cannot be written through',
    given: TREE,
    policy: { filesystem: { write: ['@/data'] } },
    can: [['write', '@/data/to-file']],
    cannot: [
      ['write', '@/data/to-secret'],
      ['create', '@/data/to-folder/new'],
      ['create', '@/data/dangling'],
    ],
  },
  {
    claim: 'a link from one grant into another works',
    given: { '@/a/link': { link: '@/b/file' }, '@/b/file': 'b', '@/b/other': 'o' },
    policy: { filesystem: { read: ['@/a', '@/b/file'] } },
    can: [['read', '@/a/link']],
    cannot: [['read', '@/b/other']],
  },
  {
    claim: 'a granted path that is a link is refused with the real path',
    given: TREE,
    policy: { filesystem: { read: ['@/data/to-secret'] } },
    run: ['/bin/true'],
    then: { refused: 'path-is-symlink', fix: '@/secret/key' },
  },
  {
    claim: 'a granted path through a link is refused with the real path',
    given: TREE,
    policy: { filesystem: { write: ['@/data/to-folder/key'] } },
    run: ['/bin/true'],
    then: { refused: 'path-is-symlink', fix: '@/secret/key' },
  },
  {
    claim: 'a granted folder that is a link is refused with the real path',
    given: TREE,
    policy: { filesystem: { read: ['@/data/to-folder/**'] } },
    run: ['/bin/true'],
    then: { refused: 'path-is-symlink', fix: '@/secret' },
  },
  {
    claim: 'a pattern below a link is refused with the real path',
    given: TREE,
    policy: { filesystem: { read: ['@/data/to-folder/*'] } },
    run: ['/bin/true'],
    then: { refused: 'path-is-symlink', fix: '@/secret' },
  },
  {
    claim: 'a granted link without a target is refused',
    given: TREE,
    policy: { filesystem: { read: ['@/data/dangling'] } },
    run: ['/bin/true'],
    then: { refused: 'path-is-symlink' },
  },
  {
    claim: 'links of the system itself are followed',
    policy: { filesystem: { read: ['/bin/bash', '/bin/ls*'] } },
    run: ['/bin/sh', '-c', 'test -r /bin/bash && echo fine'],
    then: { stdout: 'fine\n' },
  },
  {
    claim: 'a hard link to a file outside the grants cannot be made',
    given: TREE,
    tell: async ({ run, read }) => {
      const { stdout } = await run(
        'ln @/secret/key @/data/mine 2> /dev/null && echo linked; echo more >> @/data/mine; true',
        { policy: { filesystem: { read: ['@/secret'], write: ['@/data'] } } },
      )
      expect(textOf(stdout)).toBe('')
      expect(read('@/secret/key')).toBe('secret')
    },
  },
  {
    claim: 'a link that replaced a granted path between two calls does not move the grant',
    given: TREE,
    tell: async ({ backend, boundary, at }) => {
      const request = {
        boundary: boundary({ filesystem: { read: ['@/data'] } }),
        cwd: '/',
        argv: ['/bin/cat', at('@/data/key')],
      }
      expect(await backend.run(request)).toMatchObject({ exitCode: 1 })
      renameSync(at('@/data'), at('@/away'))
      symlinkSync(at('@/secret'), at('@/data'))
      await expect(backend.run(request)).rejects.toMatchObject({ code: 'path-is-symlink' })
      rmSync(at('@/data'))
      mkdirSync(at('@/data'))
      expect(await backend.run(request)).toMatchObject({ exitCode: 1 })
    },
  },
])
