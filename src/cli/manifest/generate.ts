// `cordon manifest generate`: writes the manifest of a project.
import { manifestJson } from '../../manifest/index.js'

import { STDOUT, writeText } from '../text/console-text.js'

import { describeProject, projectRequestOf } from './describe-project.js'
import { manifestAction } from './manifest.js'

export const generate = manifestAction(async (line) => {
  writeText(STDOUT, manifestJson(await describeProject(projectRequestOf(line))))
  return 0
})
