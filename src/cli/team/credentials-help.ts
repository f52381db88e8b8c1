import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const CREDENTIALS_HELP: CommandHelp = {
  usage: 'cordon credentials key FILE | list | put NAME | remove NAME [options]',
  summary: 'credentials that a team keeps in its store, sealed, for its runners',
  description: [
    'key makes a key in a new file. put reads a value from stdin, seals it here with that key, and keeps what came of it in',
    'the store, which cannot read it. A runner that has the key (cordon runner --key FILE --secret ID=store:TEAM/NAME) opens',
    'it while it runs a call of a tool that was registered with this credential, and puts it into requests; the tool never',
    'sees it. Who stored and who used it is in the record.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'key', value: 'FILE', help: 'the key (put; otherwise: $CORDON_KEY_FILE)' },
        JSON_OPTION,
      ],
    },
    { title: 'the store', options: STORE_OPTIONS },
  ],
  notes: EXIT_STATUS_NOTES,
}
