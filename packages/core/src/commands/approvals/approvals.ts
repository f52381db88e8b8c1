// `cordon approvals`: answers that this user gave at this host. The registry of a team adds its questions.
import { usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/caller.js'
import { STDOUT, jsonLine, paintFor, writeText } from '../../line/text/console-text.js'
import { FEWEST_LETTERS } from '../../line/text/named-id.js'
import { renderTable } from '../../line/text/table-text.js'
import { version } from '../../line/text/version.js'
import { visible } from '../../line/text/visible-text.js'
import { PRODUCTS } from '../../products/installed-products.js'
import { rememberedApprovals, revokeApproval } from '../../run/given-approvals.js'
import type { GivenApproval } from '../../run/given-approvals.js'

const COMMAND = 'cordon approvals'

export const approvals = async (line: CommandLine): Promise<number> => {
  const status = await answerLocally(line, false)
  if (status !== undefined) return status
  throw usage(
    'questions of a team need its registry, which is not installed',
    COMMAND,
    `npm install ${PRODUCTS.team.name}@${version()}, where cordon itself is installed; or: cordon approvals list --given`,
  )
}

/** The exit status. Undefined if the words are about the registry of a team. `namesTeam`: an option names one. */
export const answerLocally = async (
  { given: { rest, switches }, environment }: CommandLine,
  namesTeam: boolean,
): Promise<number | undefined> => {
  const [action, word, ...more] = rest
  const isGiven = switches.has('given')
  if (isGiven && (action !== 'list' || word !== undefined))
    throw usage('--given goes with list alone', COMMAND, 'cordon approvals list --given')
  const print = (value: unknown, text: string): number => {
    writeText(STDOUT, switches.has('json') ? jsonLine(value) : text)
    return 0
  }
  if (isGiven) {
    const all = rememberedApprovals(environment, Date.now())
    return print(all.map(recordOf), renderTable(HEADS, all.map(rowOf), paintFor(STDOUT, environment), NOTHING))
  }
  if (action !== 'revoke' || namesTeam) return undefined
  if (word === undefined || word.length < FEWEST_LETTERS || more.length > 0) return undefined
  const named = rememberedApprovals(environment, Date.now()).filter(
    ({ id }) => id.startsWith(word) || id.endsWith(word),
  )
  const [approval] = named
  if (approval === undefined) return undefined
  if (named.length > 1)
    throw usage(
      `${visible(word)} matches the ids of ${String(named.length)} approvals`,
      COMMAND,
      'write more of it: cordon approvals list --given has them',
    )
  await revokeApproval(approval, environment)
  return print({ ...recordOf(approval), status: 'revoked' }, `revoked ${approval.id}: ${visible(approval.command)}\n`)
}

const HEADS = ['APPROVAL', 'FOR', 'COMMAND', 'UNTIL', 'WHERE', 'WHY']
const NOTHING = 'nothing is approved for a session or for always'

const rowOf = ({ id, kind, command, expires_at: end, place, because }: GivenApproval): readonly string[] => [
  ...[id, kind, command, end === undefined ? 'revoked' : `${end.slice(0, 16)}Z`, place, because],
]

const recordOf = ({ revoke: _, ...record }: GivenApproval) => record
