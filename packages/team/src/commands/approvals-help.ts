import { flag, value } from 'cordon/commands'
import { storeHelp } from '../options/store-help.js'

export const APPROVALS_HELP = storeHelp({
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
  options: [
    flag('standing', 'list valid standing approvals (list)', 'advance in-advance'),
    flag('given', 'list answers "always" and "session" of this user (list)', 'local always session'),
    value('hash', 'HASH', 'the hash of the shown arguments (approve)', 'yes force'),
    value(
      'reason',
      'TEXT',
      'the reason; recorded and shown to the agent (reject, approve, advance)',
      'because message',
    ),
    value('arguments', 'SCHEMA', 'a JSON Schema that the arguments must fit (advance)'),
    value('uses', 'N', 'number of calls (default: 1) (advance)'),
    value('for', 'TIME', 'how long it is valid: 30m, 8h, 7d (default: 1h) (advance)'),
    value('agent', 'NAME', 'only this agent (list, advance)'),
    value('tool', 'TOOL', 'only this tool (list)'),
    value('older', 'TIME', 'only approvals that have waited this long: 30m, 8h (list)', 'age since'),
    value('after', 'ID', 'next page: start after this approval (list)', 'page next'),
    value('limit', 'N', 'at most N entries (default: 100) (list)', 'most last'),
  ],
})
