import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const APPROVALS_HELP: CommandHelp = {
  usage: 'cordon approvals list|watch | show|approve [ID] | reject ID | advance TOOL | revoke ID [options]',
  summary: 'what agents wait for, and your answer',
  description: [
    'list prints what people are asked about. Agents take turns in it, each with its oldest question first. watch goes on and',
    'prints what is asked and decided from now on. show prints everything that would run: tool, version, all arguments,',
    'agent, who asked, and the boundary. approve shows the same, and asks at the terminal; elsewhere it needs --hash with',
    'what show printed. Either way the yes is for exactly those arguments of that version. reject needs --reason, which the',
    'agent is told. advance approves calls that are still to come, list --standing prints what was, and revoke takes it',
    'back. ID is that of the question or of the call (of revoke: of the standing approval); its beginning or end is enough.',
    'show and approve without an ID take the first question whose caller still waits for the answer.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'standing', meantBy: ['advance', 'in-advance'], help: 'what is approved in advance and still counts (list)' },
        { name: 'hash', value: 'HASH', meantBy: ['yes', 'force'], help: 'the hash of the arguments that were shown (approve)' },
        { name: 'reason', value: 'TEXT', meantBy: ['because', 'message'], help: 'why; recorded, and told to the agent (reject, approve, advance)' },
        { name: 'arguments', value: 'SCHEMA', help: 'a JSON Schema that the arguments have to fit (advance)' },
        { name: 'uses', value: 'N', help: 'how often (advance; otherwise: 1)' },
        { name: 'for', value: 'TIME', help: 'how long: 30m, 8h, 7d (advance; otherwise: 1h)' },
        { name: 'agent', value: 'NAME', help: 'of this agent alone (list, advance)' },
        { name: 'tool', value: 'TOOL', help: 'of this tool alone (list)' },
        { name: 'older', value: 'TIME', meantBy: ['age', 'since'], help: 'what has waited for at least so long: 30m, 8h (list)' },
        { name: 'after', value: 'ID', meantBy: ['page', 'next'], help: 'the next page: after this question (list)' },
        { name: 'most', value: 'N', meantBy: ['limit'], help: 'at most so many (list; default: 100)' },
        JSON_OPTION,
      ],
    },
    { title: 'the store', options: STORE_OPTIONS },
  ],
  notes: EXIT_STATUS_NOTES,
}
