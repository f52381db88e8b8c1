import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const CALLS_HELP: CommandHelp = {
  usage: 'cordon calls list | show CALL | cancel CALL… [options]',
  summary: 'list, show and cancel calls of a team',
  description: [
    'list prints calls, newest first. Agents see only their own. show prints one call with input and output. cordon',
    'why CALL explains its decision. cancel withdraws a pending call and stops a running one; the caller, an operator',
    'or an admin may do that. It waits up to --wait for the call to end, and does not undo its effects. The start or',
    'end of an id is enough, among the last 1000 calls.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        {
          name: 'state',
          value: 'STATE',
          meantBy: ['status'],
          help: 'pending, approved, running, completed, failed, rejected, expired or cancelled (list)',
        },
        { name: 'agent', value: 'NAME', help: 'only this agent (list)' },
        { name: 'tool', value: 'TOOL', help: 'only this tool (list)' },
        { name: 'profile', value: 'NAME', help: 'only this profile (list)' },
        {
          name: 'limit',
          value: 'N',
          meantBy: ['most', 'last'],
          help: 'number of calls, up to 1000 (default: 50) (list)',
        },
        { name: 'reason', value: 'TEXT', meantBy: ['because', 'message'], help: 'the reason; recorded (cancel)' },
        {
          name: 'wait',
          value: 'TIME',
          meantBy: ['timeout'],
          help: 'how long to wait for running calls: 10s, 2m (default: 30s) (cancel)',
        },
        JSON_OPTION,
      ],
    },
    { title: 'store', options: STORE_OPTIONS },
  ],
  notes: ['cancel exits with 1 if a call had already ended, or still runs after --wait.', ...EXIT_STATUS_NOTES],
}
