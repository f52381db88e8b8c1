// `cordon approvals`: answers that this user gave at this host. The registry of a team adds its questions.
import { randomUUID } from 'node:crypto'

import { version } from '../../line/text/version.js'
import { STDOUT, jsonLine, paintFor, writeText } from '../../line/text/console-text.js'
import { FEWEST_LETTERS } from '../../line/text/named-id.js'
import { renderTable } from '../../line/text/table-text.js'
import { visible } from '../../line/text/visible-text.js'
import { usage } from '../../line/arguments.js'
import type { CommandLine, Environment } from '../../line/command-line.js'
import { PRODUCTS } from '../../products/installed-products.js'
import { openAuditLog } from '../../runtime/audit/index.js'
import { createEventStream } from '../../runtime/events/index.js'
import { givenApprovals } from '../../run/given-approvals.js'
import type { GivenApproval } from '../../run/given-approvals.js'
import { auditPathOf, homeOf } from '../../settings/own-folders.js'

export const approvals = async (line: CommandLine): Promise<number> => {
  const status = await answerLocally(line, false)
  if (status !== undefined) return status
  throw usage(
    'questions of a team need its registry, which is not installed',
    'cordon approvals',
    `npm install ${PRODUCTS.team.name}@${version()}, where cordon itself is installed; or: cordon approvals list --given`,
  )
}

/** The exit status. Undefined if the words are about the registry of a team. `namesTeam`: an option names one. */
export const answerLocally = async (
  { given, environment }: CommandLine,
  namesTeam: boolean,
): Promise<number | undefined> => {
  const { rest, switches } = given
  const [action, word, ...more] = rest
  const isGiven = switches.has('given')
  if (isGiven && (action !== 'list' || word !== undefined))
    throw usage('--given goes with list alone', 'cordon approvals', 'cordon approvals list --given')
  if (action !== 'revoke' && !isGiven) return undefined
  if (namesTeam && !isGiven) return undefined
  const print = (value: unknown, text: string): number => {
    writeText(STDOUT, switches.has('json') ? jsonLine(value) : text)
    return 0
  }
  if (isGiven) {
    const approvals = givenApprovals(environment, Date.now())
    return print(
      approvals.map(recordOf),
      renderTable(
        ['APPROVAL', 'FOR', 'COMMAND', 'UNTIL', 'WHERE', 'WHY'],
        approvals.map((each) => [
          each.id,
          each.kind,
          each.command,
          each.expires_at === undefined ? 'revoked' : `${each.expires_at.slice(0, 16)}Z`,
          each.place,
          each.because,
        ]),
        paintFor(STDOUT, environment),
        'nothing is approved for a session or for always',
      ),
    )
  }
  if (word === undefined || word.length < FEWEST_LETTERS || more.length > 0) return undefined
  const named = givenApprovals(environment, Date.now()).filter(({ id }) => id.startsWith(word) || id.endsWith(word))
  const [approval] = named
  if (approval === undefined) return undefined
  if (named.length > 1)
    throw usage(
      `${visible(word)} matches the ids of ${String(named.length)} approvals`,
      'cordon approvals',
      'write more of it: cordon approvals list --given has them',
    )
  await recordRevocation(approval, environment)
  await approval.revoke()
  return print({ ...recordOf(approval), status: 'revoked' }, `revoked ${approval.id}: ${visible(approval.command)}\n`)
}

/** Before it takes effect, like every change of what may run. */
const recordRevocation = async ({ id, kind, command }: GivenApproval, environment: Environment): Promise<void> => {
  const audit = await openAuditLog({ path: auditPathOf(environment, homeOf(environment)) })
  try {
    const events = createEventStream({
      sessionId: randomUUID(),
      now: Date.now,
      newId: randomUUID,
      record: audit.append,
    })
    await events.emit({
      type: 'policy.changed',
      call_id: null,
      change: kind === 'always' ? 'rules' : 'approval',
      because: `"${kind}" was revoked: ${id}: ${command}`,
      tool: null,
      policy_hash: null,
      permission_state: { mode: 'default', rules: [], policy_sources: [], interactive: true, managed_only: [] },
    })
  } finally {
    await audit.close()
  }
}

const recordOf = ({ revoke: _, ...record }: GivenApproval) => record
