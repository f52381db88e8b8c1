// `cordon mcp install | uninstall | list | diff | trust | update`.
import { unknownAction, visible } from 'cordon/commands'
import type { CommandLine } from 'cordon/commands'

import type { UpdatedPackage } from '../packages/update-packages.js'
import { clientCommand } from './client-commands.js'
import { diffCommand, trustCommand } from './consent-commands.js'
import { MCP_SETUP_ACTIONS } from './help.js'
import { print, printJson } from './print.js'

export const mcpSetup = async (line: CommandLine): Promise<number> => {
  const [action] = line.given.rest
  switch (action) {
    case 'install':
    case 'uninstall':
    case 'list':
      return clientCommand(action, line)
    case 'diff':
      return diffCommand(line)
    case 'trust':
      return trustCommand(line)
    case 'update':
      return updateCommand(line)
    default:
      throw unknownAction(action, MCP_SETUP_ACTIONS, 'cordon mcp')
  }
}

const updateCommand = async ({ given: { switches, rest }, environment }: CommandLine): Promise<number> => {
  const isDry = switches.has('dry-run')
  const { updatePackages } = await import('../packages/update-packages.js')
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
