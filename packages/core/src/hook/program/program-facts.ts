// Whether an installed line starts a whole and current copy of Cordon.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { PACKAGE_FOLDER } from '../../platform/index.js'
import { bindGlob, isWithinPath, parseAbsolutePath, parsePathGlob } from '../../policy/index.js'
import { futurePathOf } from '../../sandbox/index.js'

import type { Environment } from '../../line/arguments.js'
import { dataFolderOf, homeOf } from '../../settings/own-folders.js'
import type { Obstacle } from '../agent.js'
import { SHARED_LAUNCHER, copiesFor, copyName, launcherOf, programsIn, readLauncher } from './copy-program.js'

/** The problem of the copy that a line starts. Undefined if there is none. */
export const copyProblem = (line: string, scope: string, environment: Environment): string | undefined => {
  const dataFolder = copiesFor(scope, environment)
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

const NARROWER = 'grant folders that do not contain it; or set XDG_DATA_HOME to a folder that no grant contains'

/** The fix if this program lies in a write root. A copy does not help if it is one already. */
export const wayOutOfGrants = (install: string): string =>
  existsSync(join(dirname(dirname(PACKAGE_FOLDER)), 'bin', 'cordon')) && dirname(PACKAGE_FOLDER).endsWith('/programs')
    ? `${NARROWER}, and run: ${install}`
    : `copy Cordon out of the project: ${install}`

/** The grant of an installed line, or its project, in which the copy lies. Each call would be refused. */
export const grantOverCopy = (line: string, folder: string, environment: Environment): Obstacle | undefined => {
  const home = homeOf(environment)
  const data = futurePathOf(parseAbsolutePath(dataFolderOf(environment, home)))
  const workspace = parseAbsolutePath(folder)
  const grants = [...line.matchAll(/'--(?:write|workspace)' '(?<glob>[^']+)'/g)].map(({ groups }) => groups?.['glob'])
  const over = grants.find((glob) =>
    bindGlob(parsePathGlob(glob ?? '', 'a grant of the hook'), { workspace, home }).some(({ base }) =>
      isWithinPath(data, futurePathOf(base)),
    ),
  )
  return over === undefined
    ? undefined
    : { problem: `every call is refused: the grant ${over} lets tools change Cordon in ${data}`, fix: NARROWER }
}
