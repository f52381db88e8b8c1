// Options and help of `cordon run`.
import { DEFAULT_LIMITS, FORMS, LINUX_BACKENDS } from '../../policy/index.js'
import type { Limits } from '../../policy/index.js'

import { flag, value, values } from '../../line/arguments.js'
import type { Option } from '../../line/arguments.js'
import type { CommandHelp } from '../../line/help.js'

export const GRANTS: readonly Option[] = [
  values(
    'read',
    'GLOB',
    'allow reading this file, or this folder and all below; "!GLOB" excludes',
    'ro ro-bind allow-read r',
  ),
  values('write', 'GLOB', 'allow reading and writing, except protected names (see below)', 'rw bind allow-write w'),
  values(
    'net',
    'HOST[:PORT]',
    'allow this host, *.HOST, address or CIDR block; "none" or "all" (default ports: 80, 443)',
    'network allow-net share-net',
  ),
  values(
    'env',
    'NAME[=VALUE]',
    'pass this variable from your environment, or set it to VALUE',
    'environment setenv e allow-env',
  ),
  values('exec', 'NAME|PATH', 'start only this program besides COMMAND; or "none", "all" (default: all)'),
  values('preset', 'NAME', 'grant a preset: toolchains (version managers), workspace (write here)'),
  values(
    'policy',
    'NAME|FILE',
    'grant what this policy grants (see: cordon policy list); its relative globs start here',
  ),
]

/** The options that set a limit, by the limit. Policy files have more limits. */
export const LIMITING: Partial<Readonly<Record<keyof Limits, Option>>> = {
  memory: value('memory', 'SIZE', 'memory of all processes together, such as 128M (default: none)'),
  processes: value(
    'processes',
    'N',
    `number of processes and threads at the same time (default: ${DEFAULT_LIMITS.processes})`,
    'pids procs threads',
  ),
  cpu: value('cpu', 'TIME', 'processor time of all processes together, such as 10s (default: none)'),
  wall: value(
    'timeout',
    'TIME',
    'kill the command after this long; exit status 124 (default: none)',
    'wall time t wall-time',
  ),
  output: value('output', 'SIZE', 'size of stdout and stderr together (default: none)'),
}

export const LIMITS: readonly Option[] = Object.values(LIMITING)

export const LIMIT_OPTIONS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LIMITING).map(([limit, { name }]) => [name, limit]),
)

export const FORM_WORDS = ['auto', ...FORMS] as const
/** Without `seatbelt`: `cordon run` needs Linux. */
export const BACKEND_WORDS = ['auto', ...LINUX_BACKENDS] as const
/** Of `cordon run` alone. */
export const CONTAINER = 'container'

const builder = (names: readonly string[]): Option =>
  value('backend', 'NAME', `builder of the cell: ${names.join(', ')} (default: auto)`)

export const CELL: readonly Option[] = [
  value('cwd', 'DIR', 'working directory of the command (default: this one)', 'chdir dir workdir directory C'),
  value('workspace', 'DIR', 'start of relative globs, and of the search for rules (default: this directory)'),
  builder(BACKEND_WORDS),
  value('form', 'NAME', `form of the cell: ${FORM_WORDS.join(', ')} (default: auto)`),
  values('require', 'NAME', 'refuse to run without this mechanism: mount-namespace, landlock, cgroup, …'),
]

const CELL_OR_CONTAINER: readonly Option[] = CELL.flatMap((option) =>
  option.name === 'backend'
    ? [
        builder([...BACKEND_WORDS, CONTAINER]),
        value('image', 'NAME[@DIGEST]', 'with --backend container: the image whose command runs (see below)'),
      ]
    : [option],
)

const DECISION: readonly Option[] = [
  value('mode', 'MODE', 'default, untrusted, on_request, on_failure, never, plan, bypass, auto (see below)'),
  values('rules', 'FILE', 'another rule file (see below)'),
  value('manifest', 'FILE', 'refuse a policy that is not within one of this manifest (see: cordon manifest)'),
  value('session', 'NAME', 'name for "session" approvals, valid eight hours (default: $CORDON_SESSION)'),
  flag('dry-run', 'show the decision and what would change it, and run nothing', 'explain check n evaluate'),
]

export const EGRESS: readonly Option[] = [
  values(
    'secret',
    'ID=SOURCE',
    'source of a credential: env:NAME, file:PATH, command:…, keyring:…, vault:…, login:URL',
  ),
  values('resolve', 'HOST=ADDRESS', 'use this address for a granted host'),
  value('upstream-ca', 'FILE', 'trust these server certificates'),
]

const REPORTS: readonly Option[] = [
  flag('observe', 'list refused files at the end'),
  value('facts', 'FILE', 'write decision, boundary, violations, hosts and usage as JSON'),
  flag('json', 'print the same as one line on stderr, instead of messages'),
  flag('quiet', 'print no warnings, hints or violations'),
  value('agent', 'NAME', 'the hook of this coding agent starts it, and hints say how to grant more to it'),
]

export const RUN_HELP: CommandHelp = {
  usage: 'cordon run [options] -- COMMAND…',
  summary: 'run one command in a sandbox',
  description: [
    'Runs one command in a sandbox. It can use the programs and libraries of the system and what',
    'you grant. By default: no user files, no network, no variables, no other processes.',
  ],
  groups: [
    { title: 'grants', options: GRANTS },
    { title: 'limits', options: LIMITS },
    { title: 'sandbox', options: CELL_OR_CONTAINER },
    { title: 'decision', options: DECISION },
    { title: 'network', options: EGRESS },
    { title: 'reports', options: REPORTS },
  ],
  notes: [
    'Globs: ** * ? {a,b}, relative to this directory, or ~. Sizes: 64K 128M 1G. Times: 500ms 30s 2m.',
    'Options add to policies. For limits, variables, --net none|all and --exec none|all the option wins.',
    '',
    "A working directory that is not granted is empty. Below /tmp, which is the cell's own, a command can",
    'write to it, but its files disappear with the cell. --write . keeps them.',
    '',
    'Protected names (git hooks and configuration, shell start-up files, package.json and more) stay',
    'read-only, unless a --write names one exactly. If the command creates one, Cordon renames it and kills',
    'the command. docs/protected-names.md lists them all.',
    '',
    'Rules come from rules.yaml and rules/*.yaml in /etc/cordon, .cordon (here and in parent folders) and',
    '~/.config/cordon, and from --rules. The strictest wins: deny, ask, allow. The tool name is cordon:run.',
    'By typing a command you approve it with its grants. You are asked when a rule says ask, and in the mode',
    'untrusted when no rule allows it. Without a terminal, such a command is refused (125). "plan" refuses',
    'grants to write or to use the network, "never" refuses instead of asking, "bypass" obeys only deny rules.',
    'Every run and refusal is in the audit log (see: cordon log). If it cannot be recorded, nothing runs.',
    '',
    "Exit status: the command's own; 124 timeout; 125 Cordon refused, could not build the sandbox, or the",
    'command changed a protected name and did not fail itself; 126 not executable; 127 not found;',
    '128+N killed by signal N.',
    'Signals: SIGINT, SIGTERM, SIGHUP and SIGQUIT go to the command. The second one kills it. At a terminal a',
    'second ^C also kills, except in interactive programs such as a shell: there type ^\\ twice.',
    'The program is looked up in your PATH. Inside the cell, PATH is that of the system (see --env).',
    '',
    'With --backend container COMMAND is a program of the image, in a cell in a container of a local engine',
    '(Podman, or another with the API of Docker). Cordon downloads no image. Your files are those that you',
    'grant, at the same paths. The command has no terminal: its input is what you pipe or redirect.',
  ],
}
