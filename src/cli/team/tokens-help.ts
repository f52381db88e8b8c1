import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const TOKENS_HELP: CommandHelp = {
  usage: 'cordon tokens list | create MEMBER | revoke ID [options]',
  summary: 'create, list and revoke access tokens for cordon serve',
  description: [
    'create makes a token for a member of the team, with the rights of that member in this team. It is printed once,',
    'because the store keeps only its hash. revoke ends a token at once; so does removing its member from the team.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'label', value: 'TEXT', meantBy: ['name', 'description'], help: 'what it is for (create)' },
        { name: 'days', value: 'N', help: 'days until it expires, up to 365 (default: 90) (create)' },
        {
          name: 'out',
          value: 'FILE',
          meantBy: ['output', 'file'],
          help: 'write it to a new file that only you can read, instead of printing it (create)',
        },
        JSON_OPTION,
      ],
    },
    { title: 'store', options: STORE_OPTIONS },
  ],
  notes: EXIT_STATUS_NOTES,
}
