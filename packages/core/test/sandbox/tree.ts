// Makes real folders with content for tests.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { onTestFinished } from 'vitest'

import type { AbsolutePath } from '../../src/policy/index.js'

/** Removed when the test has ended. */
export const newFolder = (): AbsolutePath => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-unit-')))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder as AbsolutePath
}

/** A name that ends in a slash is a folder, one with an arrow (`name -> target`) a link, anything else a file. */
export const plant = (root: string, names: readonly string[]): void => {
  for (const name of names) {
    const [path = '', target] = name.split(' -> ')
    const at = join(root, path)
    mkdirSync(path.endsWith('/') ? at : dirname(at), { recursive: true })
    if (target !== undefined) symlinkSync(target, at)
    else if (!path.endsWith('/')) writeFileSync(at, 'x')
  }
}
