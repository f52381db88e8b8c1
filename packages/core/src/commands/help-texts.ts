// Help of the commands of the core. It is apart from the commands, so that help and completion load none of them.
import { flag, value, values } from '../line/arguments.js'
import type { CommandHelp } from '../line/help.js'

export const APPROVALS_HELP: CommandHelp = {
  usage: 'cordon approvals list|watch | show|approve [ID] | reject ID | advance TOOL | revoke ID [options]',
  summary: 'list, approve and reject pending calls',
  description: [
    'list --given prints your answers "always" and "session" to cordon run and to hooks, as long as they are valid.',
    'revoke takes one of them back: the next such command is asked about again.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        flag('given', 'list answers "always" and "session" of this user (list)', 'local always session'),
        flag('json', 'print JSON'),
      ],
    },
  ],
  notes: [],
}

export const LOG_HELP: CommandHelp = {
  usage: 'cordon log show|follow|verify|export [options] [FILE]',
  summary: 'show, verify and export the audit log',
  description: [
    'show prints entries of the audit log. follow prints new entries as they are written. verify checks every line',
    'against the hash chain and the anchor. export writes entries for other systems. FILE is the log (default:',
    '$CORDON_AUDIT, or $XDG_STATE_HOME/cordon/audit.jsonl, or ~/.local/state/cordon/audit.jsonl).',
  ],
  groups: [
    {
      title: 'filters (show, follow, export)',
      options: [
        value('call', 'ID', 'only this call; the start of its id is enough', 'id call-id'),
        values('type', 'TYPE', 'only this type, such as tool.denied, or a group, such as tool', 'event'),
        value('host', 'NAME', 'only connections to this host, and refusals of it (a file)', 'domain'),
        value('since', 'TIME', 'only since this time: 2026-01-31T12:00, or 30m, 2h, 7d ago', 'after from'),
      ],
    },
    {
      title: 'export',
      options: [
        value(
          'format',
          'FORMAT',
          'jsonl (original lines), cloudevents (1.0), ocsf (1.3, API Activity), otlp (default: jsonl)',
          'output',
        ),
        value('cursor', 'FILE', 'remember the position in FILE; the next export continues there', 'state'),
      ],
    },
    {
      title: 'options',
      options: [
        flag('json', 'print the original lines; with verify: findings as JSON'),
        value('log', 'FILE', 'the same as FILE, as in cordon why'),
        value('anchor', 'FILE', 'the anchor file (default: FILE.anchor) (verify)'),
      ],
    },
  ],
  notes: [
    'Exit status: 0 success; 1 the log was changed (with each finding and its line), or --call matches no call;',
    '2 wrong usage, or no such log.',
  ],
}

export const WHY_HELP: CommandHelp = {
  usage: 'cordon why [options] CALL',
  summary: 'explain why a call ran or did not',
  description: [
    'Explains one call: the decision, the rule with its file and line, what would change it, its boundary,',
    'the hosts it reached, and what was refused. CALL is the id of a call in the audit log, the start of it, or',
    '"last".',
  ],
  groups: [
    {
      title: 'options',
      options: [
        value('log', 'FILE', 'the audit log (default: as for cordon log)'),
        flag('json', 'print its events as JSON, one per line'),
      ],
    },
  ],
  notes: ['Exit status: 0 found; 1 no such call; 2 wrong usage, or no such log.'],
}

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

export const EXPLAIN_HELP: CommandHelp = {
  usage: 'cordon explain [--json] CODE',
  summary: 'explain an error by its code, with its fix',
  description: [
    'Prints when the error happens, its messages for the operator and the model, and the fix. CODE is the first word of',
    'an error, such as path-missing. Without CODE: list all codes. Cordon replaces words in braces by the values.',
  ],
  groups: [{ title: 'options', options: [flag('json', 'print JSON')] }],
  notes: ['Exit status: 0 found; 2 no such code.'],
}

export const DOCTOR_HELP: CommandHelp = {
  usage: 'cordon doctor [--json]',
  summary: 'show what this host can enforce, and how to enable more',
  description: [
    'Builds small cells to test which boundaries this host can enforce, and how. It says which form of the',
    'cell Cordon uses and why, which container engine answers, which hooks of coding agents are in force in this',
    'folder, and explains what is missing.',
  ],
  groups: [{ title: 'options', options: [flag('json', 'print JSON')] }],
  notes: ['Exit status: 0 if this host can run cells, 1 if not, 2 for a wrong command line.'],
}

export const HOST_HELP: CommandHelp = {
  usage: 'cordon host status|stop|serve',
  summary: 'show or end the process that keeps cordon run fast',
  description: [
    'The first run or hook starts one process for you, which has loaded what the next runs need. It decides nothing by itself:',
    'each run is decided by its own files, folder, environment and user. Without it everything works, only slower.',
    '',
    '  status   show it',
    '  stop     end it, and the commands that it serves',
    '  serve    be it: cordon run starts this in the background',
  ],
  groups: [
    {
      title: 'options',
      options: [
        value('idle', 'TIME', 'serve: end after so long without a command (default: 10m)'),
        flag('json', 'status: print JSON'),
        flag('all', 'stop: also hosts of other installations of Cordon'),
      ],
    },
  ],
  notes: [
    'CORDON_HOST=off: neither start nor use it. CORDON_HOST=TIME: it ends after so long without a command.',
    'Exit status: 0 success; 1 none is running, or another one serves already; 2 a wrong command line.',
  ],
}

export const COMPLETION_HELP: CommandHelp = {
  usage: 'cordon completion bash|zsh|fish',
  summary: 'print a script that completes commands and options in a shell',
  description: [
    'Prints a script for the shell, with the commands of the core and of the installed packages. Run it when a shell',
    'starts, and print it again after you installed a package:',
    '',
    '  bash   source <(cordon completion bash)        in ~/.bashrc',
    '  zsh    source <(cordon completion zsh)         in ~/.zshrc, after compinit',
    '  fish   cordon completion fish | source         in ~/.config/fish/config.fish',
  ],
  groups: [],
  notes: ['Exit status: 0 printed; 2 no such shell.'],
}

export const DEMO_HELP: CommandHelp = {
  usage: 'cordon demo',
  summary: 'watch an attack on an agent fail',
  description: [
    'Plays an attack on an agent with four tools. A search result tells the model to send a (made-up) key away,',
    'and the model obeys. Every step really runs, on this machine only. The output shows what Cordon blocked, and how.',
  ],
  groups: [],
  notes: ['Exit status: 0 if every boundary held, 1 if one did not.'],
}
