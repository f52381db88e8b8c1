import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const TOKENS_HELP: CommandHelp = {
  usage: 'cordon tokens list | create MEMBER | revoke ID [options]',
  summary: 'what programs show to cordon serve to be known as a member',
  description: [
    'create makes a token that speaks for a member of the team, and for what they are in this team alone. It is printed',
    'once: the store keeps its hash. revoke takes one back at once; so does taking its member out of the team.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'label', value: 'TEXT', meantBy: ['name', 'description'], help: 'what it is for (create)' },
        { name: 'days', value: 'N', help: 'how long it is valid: up to 365 (create; otherwise: 90)' },
        { name: 'out', value: 'FILE', meantBy: ['output', 'file'], help: 'writes it to a new file that only you can read, instead of printing it (create)' },
        JSON_OPTION,
      ],
    },
    { title: 'the store', options: STORE_OPTIONS },
  ],
  notes: EXIT_STATUS_NOTES,
}
