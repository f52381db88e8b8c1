import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const CREDENTIALS_HELP: CommandHelp = {
  usage: 'cordon credentials key FILE | list | put NAME | remove NAME [options]',
  summary: 'store sealed credentials of a team for its runners',
  description: [
    'key creates a key in a new file. put reads a value from stdin, seals it here with that key and stores the sealed',
    'value, which the store cannot read. A runner with the key (cordon runner --key FILE --secret ID=store:TEAM/NAME)',
    'opens it while it runs a call of a tool that is registered with this credential, and adds it to requests. The tool',
    'never sees it. The log records who stored and who used it.',
  ],
  groups: [
    {
      title: 'options',
      options: [{ name: 'key', value: 'FILE', help: 'the key (default: $CORDON_KEY_FILE) (put)' }, JSON_OPTION],
    },
    { title: 'store', options: STORE_OPTIONS },
  ],
  notes: EXIT_STATUS_NOTES,
}
