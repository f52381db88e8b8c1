import { value } from 'cordon/commands'
import { storeHelp } from '../options/store-help.js'

export const RUNS_HELP = storeHelp({
  usage: 'cordon team runs start NAME --plan FILE | list | show|approve|reject|cancel RUN [options]',
  summary: 'approve a plan once, then make the calls of its run',
  description: [
    'start asks people to approve a plan, which is a mapping in YAML or JSON. show prints the plan, the answers and',
    'the calls of the run. approve and reject answer; cordon approvals list shows runs too. An approval is for the',
    'hash of the shown plan. Whoever started a run cannot approve it. Calls can use an approved run until it expires.',
    'cancel ends the run and its open calls; the person who started it, an operator or an admin may do that. The start',
    'or end of a RUN id is enough.',
  ],
  options: [
    value('plan', 'FILE', 'the plan; - is standard input (start)', 'file'),
    value('needed', 'N', 'number of people who must approve (default: 1) (start)', 'approvals'),
    value('for', 'TIME', 'how long it is valid: 8h, 7d (default: 1d) (start)'),
    value('status', 'STATUS', 'pending, approved, rejected, expired or cancelled (list)'),
    value('hash', 'HASH', 'the hash of the shown plan (approve)', 'yes force'),
    value('reason', 'TEXT', 'the reason; recorded (approve, reject, cancel)', 'because message'),
  ],
})
