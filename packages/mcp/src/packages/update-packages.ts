// Pins the newest version of packages that servers are started from.
import { didYouMean } from 'cordon/policy'
import { configFolderOf, homeOf, openRunLog, usage, visible } from 'cordon/commands'
import type { Environment } from 'cordon/commands'

import { updatePackage } from './install-package.js'
import { lockPlaceOf, readLock } from './lock-file.js'
import { callOfKey } from './package-words.js'

export interface UpdatedPackage {
  readonly package: string
  readonly before: string | null
  readonly after: string
  readonly isChanged: boolean
}

/** `names`: empty for all that are pinned. `isDry`: nothing is changed. */
export const updatePackages = async (
  names: readonly string[],
  environment: Environment,
  isDry: boolean,
): Promise<{ readonly lock: string; readonly packages: readonly UpdatedPackage[] }> => {
  const home = homeOf(environment)
  const place = lockPlaceOf(process.cwd(), configFolderOf(environment, home))
  const calls = keysNamed(names, Object.keys(readLock(place)), place.path).map((key) => callOfKey(key))
  const audit = await openRunLog(environment, home)
  const packages: UpdatedPackage[] = []
  try {
    for (const call of calls) {
      const settings = { audit, environment, form: undefined, ruleFiles: [] }
      const { before, after, isChanged } = await updatePackage(call, place, settings, isDry)
      const name = `${call.name}${call.wanted === '' ? '' : `@${call.wanted}`}`
      packages.push({ package: name, before: before?.version ?? null, after: after.version, isChanged })
    }
  } finally {
    await audit.close()
  }
  return { lock: place.path, packages }
}

/** `NAME` stands for all its entries, `NAME@VERSION` for one. */
const keysNamed = (names: readonly string[], keys: readonly string[], path: string): readonly string[] => {
  if (names.length === 0) return keys
  const shown = keys.map((key) => key.slice(key.indexOf(':') + 1))
  return names.flatMap((name) => {
    const found = keys.filter((key, at) => shown[at] === name || callOfKey(key).name === name)
    if (found.length > 0) return found
    throw usage(
      `${path} pins no package ${visible(name)}`,
      'cordon mcp update',
      didYouMean(name, shown) ?? (shown.length === 0 ? 'start the server first' : `there are: ${shown.join(', ')}`),
    )
  })
}
