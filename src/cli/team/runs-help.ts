import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const RUNS_HELP: CommandHelp = {
  usage: 'cordon runs start NAME --plan FILE | list | show|approve|reject|cancel RUN [options]',
  summary: 'approve a plan once, then make the calls of its run',
  description: [
    'start asks people to approve a plan, which is a mapping in YAML or JSON. show prints the plan, the answers and',
    'the calls of the run. approve and reject answer; cordon approvals list shows runs too. An approval is for the',
    'hash of the shown plan. Whoever started a run cannot approve it. Calls can use an approved run until it expires.',
    'cancel ends the run and its open calls; the person who started it, an operator or an admin may do that. The start',
    'or end of a RUN id is enough.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'plan', value: 'FILE', meantBy: ['file'], help: 'the plan; - is standard input (start)' },
        {
          name: 'needed',
          value: 'N',
          meantBy: ['approvals'],
          help: 'number of people who must approve (default: 1) (start)',
        },
        { name: 'for', value: 'TIME', help: 'how long it is valid: 8h, 7d (default: 1d) (start)' },
        { name: 'status', value: 'STATE', help: 'pending, approved, rejected, expired or cancelled (list)' },
        { name: 'hash', value: 'HASH', meantBy: ['yes', 'force'], help: 'the hash of the shown plan (approve)' },
        {
          name: 'reason',
          value: 'TEXT',
          meantBy: ['because', 'message'],
          help: 'the reason; recorded (approve, reject, cancel)',
        },
        JSON_OPTION,
      ],
    },
    { title: 'store', options: STORE_OPTIONS },
  ],
  notes: EXIT_STATUS_NOTES,
}
