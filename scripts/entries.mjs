// The public entries of all packages, and the single modules that they are built from. Tests take these modules in
// place of the bundles, so that whatever they import from a source is the same copy.
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGES = join(dirname(dirname(fileURLToPath(import.meta.url))), 'packages')

const entriesIn = (folder) => {
  const { name, exports = {} } = JSON.parse(readFileSync(join(PACKAGES, folder, 'package.json'), 'utf8'))
  return Object.entries(exports).flatMap(([key, { unbundled }]) =>
    unbundled === undefined ? [] : [[`${name}${key.slice(1)}`, join(PACKAGES, folder, unbundled)]],
  )
}

/** By specifier: `cordon/policy` is packages/core/dist/policy/index.js. */
export const ENTRIES = new Map(readdirSync(PACKAGES).flatMap(entriesIn))

/** packages/core/dist/policy/index.js → packages/core/src/policy/index.ts */
export const sourceOf = (module) => module.replace(/\/dist\/(.*)\.js$/, '/src/$1.ts')
