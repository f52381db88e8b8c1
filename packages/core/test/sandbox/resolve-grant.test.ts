import { lstatSync } from 'node:fs'

import { describe, expect, it } from 'vitest'
import { needs } from '../../../../test/requirement.js'

import { refuseUngrantable, resolveGrant } from '../../src/sandbox/grants/survey.js'
import { path } from '../policy/places.js'
import { newFolder, plant } from './tree.js'

describe('a granted path', () => {
  it('is the object at that path', () => {
    const root = newFolder()
    plant(root, ['folder/', 'file'])
    expect(resolveGrant(path(`${root}/folder`))).toEqual({ path: `${root}/folder`, object: 'directory', links: [] })
    expect(resolveGrant(path(`${root}/file`))).toMatchObject({ object: 'file' })
    expect(resolveGrant(path(`${root}/missing`))).toBeUndefined()
  })

  it.each(['link', 'link/f', 'folder/../link/f', 'nowhere', 'circle'])(
    'that leads through a planted link is refused: %s',
    (name) => {
      const root = newFolder()
      plant(root, ['folder/f', 'link -> folder', 'nowhere -> missing', 'circle -> circle'])
      expect(() => resolveGrant(path(`${root}/${name}`))).toThrow(expect.objectContaining({ code: 'path-is-symlink' }))
    },
  )

  it('through a link of the system is followed, and the link is shown too', (context) => {
    needs(context, lstatSync('/var/run').isSymbolicLink(), '/var/run is no link here')
    const found = resolveGrant(path('/var/run'))
    expect(found).toMatchObject({ path: '/run', object: 'directory', links: [{ path: '/var/run' }] })
  })
})

describe('paths that can never be granted', () => {
  it.each([
    ['write', '/'],
    ['write', '/sys'],
    ['write', '/sys/kernel'],
    ['write', '/proc'],
    ['read', '/proc'],
    ['read', '/proc/1/environ'],
    ['read', '/dev'],
  ] as const)('%s %s', (section, at) => {
    expect(() => {
      refuseUngrantable(path(at), section, at)
    }).toThrow(expect.objectContaining({ code: 'grant-inexpressible' }))
  })

  it.each([
    ['read', '/'],
    ['read', '/sys/class'],
    ['read', '/dev/null'],
    ['write', '/system'],
    ['read', '/process'],
  ] as const)('do not include %s %s', (section, at) => {
    expect(() => {
      refuseUngrantable(path(at), section, at)
    }).not.toThrow()
  })
})
