// The registry of a team as the option `registry` of createCordon.
import type { RegistrySource } from 'cordon/runtime'

import { sameTool } from '../tools/same-tool.js'

import { openCallRegistry } from './call-registry.js'
import type { RegistrySettings } from './registry-access.js'
import { checkRegistrySettings } from './registry-option.js'
import { registryOwnFiles } from './registry-own-files.js'

/** Decides about the calls of a runtime, if needed by asking people, and keeps their results. */
export const teamRegistry = (settings: RegistrySettings): RegistrySource => {
  checkRegistrySettings(settings)
  const { execution = 'here' } = settings
  return {
    execution,
    ownFiles: registryOwnFiles(settings),
    open: async ({ definitionOf, mechanisms, workspace = process.cwd(), ...home }) =>
      openCallRegistry(
        settings,
        sameTool(definitionOf, { workspace, ...home }),
        execution === 'runners' ? [] : await mechanisms(),
      ),
  }
}
