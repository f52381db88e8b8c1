// Whether an installed line starts a whole and current copy of Cordon.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { PACKAGE_FOLDER } from '../../runtime/own-files/index.js'

import type { Environment } from '../command-line.js'
import { dataFolderOf, homeOf } from '../settings/own-folders.js'
import { copyName } from './copy-program.js'
import { MACHINE_FOLDER, SHARED_LAUNCHER, launcherOf, programsIn, readLauncher } from './program-launcher.js'

/** The problem of the copy that a line starts. Undefined if there is none. */
export const copyProblem = (line: string, scope: string, environment: Environment): string | undefined => {
  const dataFolder = scope === 'managed' ? MACHINE_FOLDER : dataFolderOf(environment, homeOf(environment))
  const launcher = launcherOf(dataFolder)
  if (!line.includes(launcher) && !line.includes(SHARED_LAUNCHER))
    return 'it starts Cordon from a place that a tool may be able to change'
  const started = readLauncher(dataFolder)
  if (started === undefined) return `${launcher}, which starts Cordon, is missing`
  const { node, folder } = started
  if (!existsSync(node)) return `the Node of Cordon is gone: ${node}`
  if (!existsSync(join(folder, 'bin', 'cordon.js'))) return `the copy of Cordon is gone: ${folder}`
  // The copy itself knows of no newer one.
  if (PACKAGE_FOLDER === folder || folder === join(programsIn(dataFolder), copyName())) return undefined
  return `the copy of Cordon is stale: ${folder} is not this version`
}
