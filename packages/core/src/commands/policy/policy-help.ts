import { flag, values } from '../../line/arguments.js'
import type { CommandHelp } from '../../line/help.js'

export const POLICY_HELP: CommandHelp = {
  usage: 'cordon policy list|show|resolve|check|test|compare [options] [NAME|FILE…]',
  summary: 'list, check, test and compare policies',
  description: [
    'list names all policies: bundled with Cordon, of the project (.cordon/policies here and in parent folders) and',
    'of the user (~/.config/cordon/policies). show prints one as written. resolve prints what several grant',
    'together, with file and line. check reads the named policies, runs their examples and finds conflicts; without',
    'a name it checks every policy on its own. test shows the result of each example, or of a --request.',
    'compare A B shows an example of everything that A allows and B does not, and what B allows beyond A.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        values(
          'request',
          'REQUEST',
          'test: is "GET https://HOST/PATH" or "stream HOST:PORT" allowed, by which line, with which credential',
        ),
        values('rules', 'FILE', 'another rule file that may list trusted_projects'),
        flag('json', 'print JSON'),
      ],
    },
  ],
  notes: [
    'If several sources have a name, add the source: bundled:github, project:github, user:github.',
    'A project policy grants only if trusted_projects of your rules lists the project, or if you name its file.',
    'Exit status: 0 success; 1 a policy is not valid, an example fails, policies conflict, a --request is denied,',
    'or A allows more than B; 2 wrong usage, or a file cannot be read.',
  ],
}
