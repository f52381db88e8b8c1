// The packages of Cordon around its core. They run outside of every cell, as the core does.
import { basename, dirname, join } from 'node:path'

import { existsSync } from './look.js'

/** By their folder in a checkout. */
const PACKAGES_AROUND = {
  adapters: '@cordon/adapters',
  eslint: 'eslint-plugin-cordon',
  manifest: '@cordon/manifest',
  mcp: '@cordon/mcp',
  team: '@cordon/team',
} as const

export const NAMES_AROUND: readonly string[] = Object.values(PACKAGES_AROUND)

/**
 * Where a core looks for each package around it, and nowhere else. No cell may make or change such a place
 * (runtime/own-files).
 */
export const placesAround = (core: string): ReadonlyMap<string, string> => {
  const beside = dirname(core)
  const placeOf = (folder: string, name: string): string => {
    if (basename(beside) === 'node_modules') return join(beside, name)
    // A copy of the program, as `cordon hook install` makes it, has them inside.
    return basename(beside) === 'packages' ? join(beside, folder) : join(core, 'node_modules', name)
  }
  return new Map(Object.entries(PACKAGES_AROUND).map(([folder, name]) => [name, placeOf(folder, name)]))
}

/** Of Cordon. Its sources are edited in cells too, so only the parts that run are read-only. */
export const isCheckout = (name: string, folder: string): boolean =>
  ['cordon', ...NAMES_AROUND].includes(name) &&
  basename(dirname(folder)) === 'packages' &&
  existsSync(join(folder, 'src')) &&
  existsSync(join(folder, 'tsconfig.json'))
