// `cordon mcp update`.
import { visible } from 'cordon/commands'
import type { CommandLine } from 'cordon/commands'

import { updatePackages } from '../packages/update-packages.js'
import type { UpdatedPackage } from '../packages/update-packages.js'
import { print, printJson } from './print.js'

export const updateCommand = async ({ given: { switches, rest }, environment }: CommandLine): Promise<number> => {
  const isDry = switches.has('dry-run')
  const updated = await updatePackages(rest.slice(1), environment, isDry)
  const { lock, packages } = updated
  if (switches.has('json')) printJson(updated)
  else if (packages.length === 0) print(`No package is pinned in ${visible(lock)}.`)
  else print(...packages.map((each) => describe(each, isDry)))
  return 0
}

const describe = ({ package: name, before, after, isChanged }: UpdatedPackage, isDry: boolean): string => {
  const versions = before === after ? `${after}${isChanged ? ', with other packages that it needs' : ''}` : undefined
  const change = versions ?? `${before ?? 'nothing'} -> ${after}`
  return `${visible(name)}: ${visible(change)}${isChanged ? (isDry ? ' (not changed)' : '') : ', unchanged'}`
}
