import { value } from 'cordon/commands'
import { storeHelp } from '../options/store-help.js'

export const CALLS_HELP = storeHelp({
  usage: 'cordon team calls list | show CALL | cancel CALL… [options]',
  summary: 'list, show and cancel calls of a team',
  description: [
    'list prints calls, newest first. Agents see only their own. show prints one call with input and output. cordon',
    'why CALL explains its decision. cancel withdraws a pending call and stops a running one; the caller, an operator',
    'or an admin may do that. It waits up to --wait for the call to end, and does not undo its effects. The start or',
    'end of an id is enough, among the last 1000 calls.',
  ],
  options: [
    value(
      'status',
      'STATUS',
      'pending, approved, running, completed, failed, rejected, expired or cancelled (list)',
      'state',
    ),
    value('agent', 'NAME', 'only this agent (list)'),
    value('tool', 'TOOL', 'only this tool (list)'),
    value('profile', 'NAME', 'only this profile (list)'),
    value('limit', 'N', 'number of calls, up to 1000 (default: 50) (list)', 'most last'),
    value('reason', 'TEXT', 'the reason; recorded (cancel)', 'because message'),
    value('wait', 'TIME', 'how long to wait for running calls: 10s, 2m (default: 30s) (cancel)', 'timeout'),
  ],
  notes: ['cancel exits with 1 if a call had already ended, or still runs after --wait.'],
})
