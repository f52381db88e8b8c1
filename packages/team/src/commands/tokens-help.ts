import { value } from 'cordon/commands'
import { storeHelp } from '../options/store-help.js'

export const TOKENS_HELP = storeHelp({
  usage: 'cordon team tokens list | create MEMBER | revoke ID [options]',
  summary: 'create, list and revoke access tokens for cordon serve',
  description: [
    'create makes a token for a member of the team, with the rights of that member in this team. It is printed once,',
    'because the store keeps only its hash. revoke ends a token at once; so does removing its member from the team.',
  ],
  options: [
    value('label', 'TEXT', 'what it is for (create)', 'name description'),
    value('days', 'N', 'days until it expires, up to 365 (default: 90) (create)'),
    value(
      'out',
      'FILE',
      'write it to a new file that only you can read, instead of printing it (create)',
      'output file',
    ),
  ],
})
