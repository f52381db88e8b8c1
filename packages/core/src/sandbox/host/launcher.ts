import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { fail } from '../../errors/index.js'
import { PACKAGE_FOLDER, ifSeen } from '../../platform/index.js'

import { isExecutable } from '../grants/object-at.js'

/** The compiled launcher: this checkout's own build, or the prebuilt package of the platform. */
export const findLauncher = (): string => {
  const built = join(PACKAGE_FOLDER, 'build', 'cordon-cell')
  const packageName = `@cordon/launcher-linux-${process.arch}`
  if (isExecutable(built)) return built
  const prebuilt = prebuiltIn(packageName)
  if (prebuilt !== undefined && isExecutable(prebuilt)) return prebuilt
  throw fail('launcher-missing', { looked: `${built}, ${packageName}`, package: packageName })
}

const prebuiltIn = (packageName: string): string | undefined =>
  ifSeen(() => join(dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`)), 'bin/cordon-cell'))
