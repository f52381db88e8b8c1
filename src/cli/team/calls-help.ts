import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const CALLS_HELP: CommandHelp = {
  usage: 'cordon calls list | show CALL | cancel CALL… [options]',
  summary: 'calls of a team: which there are, what came of them, and ending them',
  description: [
    'list prints calls, the newest first; agents see their own. show prints one with what went in and what came out; why',
    'it ran or did not says cordon why CALL. cancel takes back what waits, and tells what runs to end: by who asked for it, an',
    'operator or an admin. It waits until that has ended, for as long as --wait. What a call has done by then is done. Of the id',
    'of a CALL its beginning or end is enough, among the last 1000.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'state', value: 'STATE', meantBy: ['status'], help: 'only those that are pending, approved, running, completed, failed, rejected, expired, cancelled (list)' },
        { name: 'agent', value: 'NAME', help: 'only those of this agent (list)' },
        { name: 'tool', value: 'TOOL', help: 'only those of this tool (list)' },
        { name: 'profile', value: 'NAME', help: 'only those under this profile (list)' },
        { name: 'limit', value: 'N', meantBy: ['most', 'last'], help: 'how many, at most 1000 (list; otherwise: 50)' },
        { name: 'reason', value: 'TEXT', meantBy: ['because', 'message'], help: 'why; recorded (cancel)' },
        { name: 'wait', value: 'TIME', meantBy: ['timeout'], help: 'how long to wait for what runs: 10s, 2m (cancel; otherwise: 30s)' },
        JSON_OPTION,
      ],
    },
    { title: 'the store', options: STORE_OPTIONS },
  ],
  notes: ['cancel ends with 1 when a call was over before, or still runs when the time is over.', ...EXIT_STATUS_NOTES],
}
