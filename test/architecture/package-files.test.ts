// What the packages publish, as far as git has it.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { REPOSITORY } from '../repository.js'

const PACKAGES = join(REPOSITORY, 'packages')

interface Published {
  readonly private?: boolean
  readonly files?: readonly string[]
}

/** The packages that npm publishes from their folder. Those of launchers are made by pack-launcher.mjs. */
const published = readdirSync(PACKAGES)
  .map((name) => ({
    name,
    folder: join(PACKAGES, name),
    manifest: JSON.parse(readFileSync(join(PACKAGES, name, 'package.json'), 'utf8')) as Published,
  }))
  .filter(({ manifest }) => manifest.private !== true)

test('each package has the licence, because npm takes it from the folder of the package only', () => {
  const licence = readFileSync(join(REPOSITORY, 'LICENSE'), 'utf8')
  expect(published.map(({ name }) => name)).toEqual(['adapters', 'core', 'eslint', 'manifest', 'mcp', 'team'])
  for (const { name, folder } of published) expect(readFileSync(join(folder, 'LICENSE'), 'utf8'), name).toBe(licence)
})

test('each package lists only files that it has, besides what a build makes', () => {
  const missing = published.flatMap(({ name, folder, manifest }) =>
    (manifest.files ?? [])
      .filter((file) => !file.startsWith('!') && !file.startsWith('dist/') && !existsSync(join(folder, file)))
      .map((file) => `${name}: ${file}`),
  )
  expect(missing).toEqual([])
})
