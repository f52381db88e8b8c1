import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const RUNS_HELP: CommandHelp = {
  usage: 'cordon runs start NAME --plan FILE | list | show|approve|reject|cancel RUN [options]',
  summary: 'runs of a team: a plan that people agree to, and the calls that are made for it',
  description: [
    'start asks people about a plan: a mapping in YAML or JSON. show prints it with what people said and the calls that were made',
    'for it. approve and reject answer, as cordon approvals does, whose list has runs and calls; the yes is for the hash of the plan',
    'that was shown, and never by who started it. Until it expires calls can be made for a run that is approved. cancel',
    'ends it, with those of its calls that are still open: by who started it, an operator or an admin. Its beginning or end is',
    'enough of RUN.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'plan', value: 'FILE', meantBy: ['file'], help: 'what is to be done (start; - is standard input)' },
        { name: 'needed', value: 'N', meantBy: ['approvals'], help: 'how many different people have to agree (start; otherwise: 1)' },
        { name: 'for', value: 'TIME', help: 'how long it may be decided and used: 8h, 7d (start; otherwise: 1d)' },
        { name: 'status', value: 'STATE', help: 'only those that are pending, approved, rejected, expired, cancelled (list)' },
        { name: 'hash', value: 'HASH', meantBy: ['yes', 'force'], help: 'the hash of the plan that was shown (approve)' },
        { name: 'reason', value: 'TEXT', meantBy: ['because', 'message'], help: 'why; recorded (approve, reject, cancel)' },
        JSON_OPTION,
      ],
    },
    { title: 'the store', options: STORE_OPTIONS },
  ],
  notes: EXIT_STATUS_NOTES,
}
