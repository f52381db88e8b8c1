import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const APPROVALS_HELP: CommandHelp = {
  usage: 'cordon approvals list|watch | show|approve [ID] | reject ID | advance TOOL | revoke ID [options]',
  summary: 'list, approve and reject pending calls',
  description: [
    'list prints pending approvals. Agents take turns, each with its oldest first. watch also prints new approvals',
    'and decisions. show prints everything that would run: tool, version, arguments, agent, caller and boundary.',
    'approve shows the same and asks at the terminal; without a terminal it needs the --hash that show prints. An',
    'approval is for exactly these arguments and this version. reject needs --reason, which the agent reads.',
    'advance approves future calls, list --standing prints such standing approvals, revoke removes one. ID is the',
    'approval or its call (with revoke: the standing approval); the start or end of the id is enough. Without an ID,',
    'show and approve take the first approval whose caller still waits.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'standing', meantBy: ['advance', 'in-advance'], help: 'list valid standing approvals (list)' },
        { name: 'hash', value: 'HASH', meantBy: ['yes', 'force'], help: 'the hash of the shown arguments (approve)' },
        {
          name: 'reason',
          value: 'TEXT',
          meantBy: ['because', 'message'],
          help: 'the reason; recorded and shown to the agent (reject, approve, advance)',
        },
        { name: 'arguments', value: 'SCHEMA', help: 'a JSON Schema that the arguments must fit (advance)' },
        { name: 'uses', value: 'N', help: 'number of calls (default: 1) (advance)' },
        { name: 'for', value: 'TIME', help: 'how long it is valid: 30m, 8h, 7d (default: 1h) (advance)' },
        { name: 'agent', value: 'NAME', help: 'only this agent (list, advance)' },
        { name: 'tool', value: 'TOOL', help: 'only this tool (list)' },
        {
          name: 'older',
          value: 'TIME',
          meantBy: ['age', 'since'],
          help: 'only approvals that have waited this long: 30m, 8h (list)',
        },
        { name: 'after', value: 'ID', meantBy: ['page', 'next'], help: 'next page: start after this approval (list)' },
        { name: 'most', value: 'N', meantBy: ['limit'], help: 'at most N entries (default: 100) (list)' },
        JSON_OPTION,
      ],
    },
    { title: 'store', options: STORE_OPTIONS },
  ],
  notes: EXIT_STATUS_NOTES,
}
