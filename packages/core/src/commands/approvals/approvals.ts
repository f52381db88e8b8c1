// `cordon approvals`: answers that this user gave at this host. The registry of a team adds its questions.
import { version } from '../../line/text/version.js'
import { usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/command-line.js'
import { PRODUCTS } from '../../products/installed-products.js'

import { answerLocally } from './local-approvals.js'

export const approvals = async (line: CommandLine): Promise<number> => {
  const status = await answerLocally(line, false)
  if (status !== undefined) return status
  throw usage(
    'questions of a team need its registry, which is not installed',
    'cordon approvals',
    `npm install ${PRODUCTS.team.name}@${version()}, where cordon itself is installed; or: cordon approvals list --given`,
  )
}
