import type { CommandHelp } from '../help.js'

export const POLICY_HELP: CommandHelp = {
  usage: 'cordon policy list|show|resolve|check|test|compare [options] [NAME|FILE…]',
  summary: 'policies that can be named: what they grant together, whether they are right',
  description: [
    'list names the policies that there are: those that came with Cordon, those of the project (.cordon/policies',
    'here and above) and those of the user (~/.config/cordon/policies). show prints one as it is written. resolve',
    'prints what several grant together, with the file and line of each. check reads them, with their examples and',
    'without conflicts among those that are named; without a name, every one that there is, by itself. test tells',
    'how each example comes out, or what becomes of a --request. compare A B says whether A allows anything that B does',
    'not, with an example of each kind, and what B allows beyond A.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'request', value: 'REQUEST', repeatable: true, help: 'test: whether "GET https://HOST/PATH" or "stream HOST:PORT" is allowed, by which line, with which credential' },
        { name: 'rules', value: 'FILE', repeatable: true, help: 'rules that may say which projects are trusted, beside those of the machine and the user' },
        { name: 'json', help: 'the same as JSON on stdout' },
      ],
    },
  ],
  notes: [
    'A name that several sources have is written with its source: bundled:github, project:github, user:github.',
    'A policy of a project that is not in trusted_projects of your rules can only narrow; named by its path, it grants.',
    'Exit status: 0 when all is well, 1 when a policy is wrong, an example fails, two contradict each other, a',
    '--request is not allowed or A goes beyond B, 2 when the command line cannot be understood or names a file that cannot be read.',
  ],
}
