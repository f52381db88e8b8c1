import { writeFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { literalPattern } from '../../src/policy/index.js'
import type { Boundary } from '../../src/policy/index.js'
import { hiddenInView, viewPresets } from '../../src/sandbox/grants/system-view.js'
import { boundaryOf, path } from '../policy/places.js'

import { newFolder, plant } from './tree.js'

/** A boundary whose presets show these paths. */
const showing = (paths: readonly string[], policy: unknown = {}): Boundary => ({
  ...boundaryOf(policy),
  presetRead: paths.map((at) => literalPattern(path(at))),
})

describe('the system files of presets', () => {
  it('are folders and large files as they are, small texts as copies, links as links', () => {
    const root = newFolder()
    plant(root, ['folder/f', 'link -> folder'])
    writeFileSync(`${root}/small`, 'text')
    writeFileSync(`${root}/large`, 'x'.repeat(20_000))
    writeFileSync(`${root}/binary`, Buffer.from([1, 0, 2]))
    const view = viewPresets(
      showing(['folder', 'link', 'small', 'large', 'binary', 'missing'].map((name) => `${root}/${name}`)),
    )
    expect(view.places.map(({ path: at }) => at.slice(root.length))).toEqual(['/folder', '/large', '/binary'])
    expect(view.files).toEqual([{ path: `${root}/small`, content: 'text' }])
    expect(view.links).toEqual([{ path: `${root}/link`, target: 'folder' }])
  })

  it('lack what the policy carves out', () => {
    const root = newFolder()
    plant(root, ['folder/key', 'folder/f', 'alone'])
    const boundary = showing([`${root}/folder`, `${root}/alone`], {
      filesystem: { read: [`!${root}/folder/key`, `!${root}/alone`] },
    })
    const view = viewPresets(boundary)
    expect(hiddenInView(boundary, view).map(({ path: at }) => at)).toContain(`${root}/folder/key`)
    expect([...view.places, ...view.files].map(({ path: at }) => at)).toEqual([`${root}/folder`])
  })

  it('lack a carve-out also if it appears between two calls', () => {
    const root = newFolder()
    plant(root, ['folder/f'])
    const boundary = showing([`${root}/folder`], { filesystem: { read: [`!${root}/folder/key`] } })
    const view = viewPresets(boundary)
    expect(hiddenInView(boundary, view)).toEqual([])
    plant(root, ['folder/key'])
    expect(hiddenInView(boundary, view)).toMatchObject([{ path: `${root}/folder/key` }])
  })

  it('are not affected by a carve-out of writing', () => {
    const root = newFolder()
    plant(root, ['folder/f'])
    const boundary = showing([`${root}/folder`], { filesystem: { write: [`!${root}/folder`] } })
    const view = viewPresets(boundary)
    expect([hiddenInView(boundary, view), view.places.map(({ path: at }) => at)]).toEqual([[], [`${root}/folder`]])
  })
})
