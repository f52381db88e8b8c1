import { value } from 'cordon/commands'
import { storeHelp } from '../options/store-help.js'

export const CREDENTIALS_HELP = storeHelp({
  usage: 'cordon team credentials key FILE | list | put NAME | remove NAME [options]',
  summary: 'store sealed credentials of a team for its runners',
  description: [
    'key creates a key in a new file. put reads a value from stdin, seals it here with that key and stores the sealed',
    'value, which the store cannot read. A runner with the key (cordon runner --key FILE --secret ID=store:TEAM/NAME)',
    'opens it while it runs a call of a tool that is registered with this credential, and adds it to requests. The tool',
    'never sees it. The log records who stored and who used it.',
  ],
  options: [value('key', 'FILE', 'the key (default: $CORDON_KEY_FILE) (put)')],
})
