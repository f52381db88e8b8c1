import type { AbsolutePath } from '../../policy/index.js'
import { isWithinPath } from '../../policy/index.js'

import type { Environment } from './environment.js'
import { objectAt } from '../grants/object-at.js'
import type { Plan } from './plan.js'

const SYSTEM_GITCONFIG = '/etc/gitconfig' as AbsolutePath

/**
 * In a root of its own a cell lacks what is not granted. Without one it is there and cannot be opened, and git gives up
 * when its system-wide settings are so. It is told that there are none.
 */
export const formVariables = ({ form, rules }: Plan): Environment =>
  form === 'landlock' &&
  objectAt(SYSTEM_GITCONFIG) !== undefined &&
  !rules.some(({ path }) => isWithinPath(SYSTEM_GITCONFIG, path))
    ? { GIT_CONFIG_NOSYSTEM: '1' }
    : {}
