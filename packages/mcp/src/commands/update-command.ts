// `cordon mcp update`: pins the newest version of packages that servers are started from.
import { didYouMean } from 'cordon/policy'
import { configFolderOf, homeOf, openRunLog, STDOUT, usage, visible, writeText } from 'cordon/commands'
import type { CommandLine } from 'cordon/commands'

import { updatePackage } from '../packages/install-package.js'
import { lockPlaceOf, readLock } from '../packages/lock-file.js'
import { callOfKey } from '../packages/package-words.js'

interface Updated {
  readonly package: string
  readonly before: string | null
  readonly after: string
  readonly isChanged: boolean
}

export const updateCommand = async ({ given: { switches, rest }, environment }: CommandLine): Promise<number> => {
  const home = homeOf(environment)
  const place = lockPlaceOf(process.cwd(), configFolderOf(environment, home))
  const locked = Object.keys(readLock(place))
  const calls = keysNamed(rest.slice(1), locked, place.path).map((key) => callOfKey(key))
  const isDry = switches.has('dry-run')
  const audit = await openRunLog(environment, home)
  const updated: Updated[] = []
  try {
    for (const call of calls) {
      const settings = { audit, environment, form: undefined, ruleFiles: [] }
      const { before, after, isChanged } = await updatePackage(call, place, settings, isDry)
      const name = `${call.name}${call.wanted === '' ? '' : `@${call.wanted}`}`
      updated.push({ package: name, before: before?.version ?? null, after: after.version, isChanged })
    }
  } finally {
    await audit.close()
  }
  if (switches.has('json')) print(JSON.stringify({ lock: place.path, packages: updated }, undefined, 2))
  else for (const each of updated) print(describe(each, isDry))
  if (updated.length === 0 && !switches.has('json')) print(`No package is pinned in ${visible(place.path)}.`)
  return 0
}

const describe = ({ package: name, before, after, isChanged }: Updated, isDry: boolean): string => {
  const versions = before === after ? `${after}${isChanged ? ', with other packages that it needs' : ''}` : undefined
  const change = versions ?? `${before ?? 'nothing'} -> ${after}`
  return `${visible(name)}: ${visible(change)}${isChanged ? (isDry ? ' (not changed)' : '') : ', unchanged'}`
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

const print = (line: string): void => {
  writeText(STDOUT, `${line}\n`)
}
