import { renameSync, rmSync, writeFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { groundOf, isStillTrue } from '../../src/sandbox/launch/pool.js'
import type { ReadyCell } from '../../src/sandbox/launch/pool.js'
import { path } from '../policy/places.js'
import { newFolder, plant } from './tree.js'

const SEALED = [{ path: path('/w/.git/hooks'), object: 'directory' as const }]

const readyOn = (granted: string, isAlive = true): ReadyCell => {
  const ground = [path(granted)]
  return {
    cell: { isAlive: () => isAlive },
    program: '/bin/sh',
    planned: { ground },
    sealed: SEALED,
    ground: groundOf(ground),
  } as unknown as ReadyCell
}

describe('a prepared cell', () => {
  it('is used while nothing has changed', () => {
    const root = newFolder()
    plant(root, ['f'])
    const ready = readyOn(`${root}/f`)
    writeFileSync(`${root}/f`, 'other content')
    expect(isStillTrue(ready, '/bin/sh', SEALED)).toBe(true)
  })

  it('is not used if a granted object was replaced or is gone', () => {
    const root = newFolder()
    plant(root, ['f', 'g'])
    const ready = readyOn(`${root}/f`)
    renameSync(`${root}/g`, `${root}/f`)
    expect(isStillTrue(ready, '/bin/sh', SEALED)).toBe(false)
    rmSync(`${root}/f`)
    expect(isStillTrue(ready, '/bin/sh', SEALED)).toBe(false)
  })

  it('is not used if it died, for another program, or if other names are protected now', () => {
    const root = newFolder()
    expect(isStillTrue(readyOn(root, false), '/bin/sh', SEALED)).toBe(false)
    expect(isStillTrue(readyOn(root), '/bin/bash', SEALED)).toBe(false)
    expect(isStillTrue(readyOn(root), '/bin/sh', [])).toBe(false)
    expect(isStillTrue(readyOn(root), '/bin/sh', [{ path: path('/w/.git/hooks'), object: 'file' }])).toBe(false)
  })
})
