// The command that Cordon writes into the settings of an agent.
import type { Environment } from '../line/arguments.js'
import { scopeOption } from './agent.js'
import type { Agent, Scope } from './agent.js'
import { installedCommand, sharedCommand } from './installed-command.js'
import { SHARED_LAUNCHER, copiesFor, launcherOf } from './program/copy-program.js'

/** A team commits the file, so the command names no path of this machine. */
export const isSharedFile = ({ settings }: Agent, scope: Scope): boolean =>
  scope === 'project' && settings.isProjectShared === true

export const commandToInstall = (
  agent: Agent,
  scope: Scope,
  options: readonly string[],
  environment: Environment,
): string => {
  const words = ['hook', agent.name, ...options]
  const again = `cordon hook install ${agent.name}${scopeOption(scope)}`
  return isSharedFile(agent, scope)
    ? sharedCommand(SHARED_LAUNCHER, words, again)
    : installedCommand([launcherOf(copiesFor(scope, environment)), ...words], again)
}
