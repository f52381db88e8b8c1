import { LIMIT_FORMS } from '../../policy/index.js'
import type { Limits } from '../../policy/index.js'

import type { Option } from '../arguments.js'
import type { CommandHelp } from '../help.js'

const GRANTS: readonly Option[] = [
  {
    name: 'read',
    value: 'GLOB',
    repeatable: true,
    meantBy: ['ro', 'ro-bind', 'allow-read', 'r'],
    help: 'allow reading this file, or this folder and all below; "!GLOB" excludes',
  },
  {
    name: 'write',
    value: 'GLOB',
    repeatable: true,
    meantBy: ['rw', 'bind', 'allow-write', 'w'],
    help: 'allow reading and writing, except protected names (see below)',
  },
  {
    name: 'net',
    value: 'HOST[:PORT]',
    repeatable: true,
    meantBy: ['network', 'allow-net', 'share-net'],
    help: 'allow this host, *.HOST, address or CIDR block; "none" or "all" (default ports: 80, 443)',
  },
  {
    name: 'env',
    value: 'NAME[=VALUE]',
    repeatable: true,
    meantBy: ['environment', 'setenv', 'e', 'allow-env'],
    help: 'pass this variable from your environment, or set it to VALUE',
  },
  {
    name: 'exec',
    value: 'NAME|PATH',
    repeatable: true,
    help: 'start only this program besides COMMAND; or "none", "all" (default: all)',
  },
  {
    name: 'preset',
    value: 'NAME',
    repeatable: true,
    help: 'grant a preset: toolchains (version managers), workspace (write here)',
  },
  {
    name: 'policy',
    value: 'NAME|FILE',
    repeatable: true,
    help: 'grant what this policy grants (see: cordon policy list); its relative globs start here',
  },
]

/** The options that set a limit. Policy files have more limits. */
const LIMITING_OPTIONS: readonly (Omit<Option, 'value'> & { readonly limit: keyof Limits })[] = [
  { name: 'memory', limit: 'memory', help: 'memory of all processes together, such as 128M (default: none)' },
  {
    name: 'processes',
    limit: 'processes',
    meantBy: ['pids', 'procs', 'threads'],
    help: 'number of processes and threads at the same time (default: none)',
  },
  { name: 'cpu', limit: 'cpu', help: 'processor time of all processes together, such as 10s (default: none)' },
  {
    name: 'timeout',
    limit: 'wall',
    meantBy: ['wall', 'time', 't', 'wall-time'],
    help: 'kill the command after this long; exit status 124 (default: none)',
  },
  { name: 'output', limit: 'output', help: 'size of stdout and stderr together (default: none)' },
]

export const LIMIT_OPTIONS: Readonly<Record<string, keyof Limits>> = Object.fromEntries(
  LIMITING_OPTIONS.map(({ name, limit }) => [name, limit]),
)

const VALUES = { size: 'SIZE', duration: 'TIME', count: 'N' } as const

const LIMITING: readonly Option[] = LIMITING_OPTIONS.map(({ limit, ...option }) => ({
  ...option,
  value: VALUES[LIMIT_FORMS[limit].quantity],
}))

const CELL: readonly Option[] = [
  {
    name: 'cwd',
    value: 'DIR',
    meantBy: ['chdir', 'dir', 'workdir', 'directory', 'C'],
    help: 'working directory of the command (default: this one)',
  },
  { name: 'form', value: 'NAME', help: 'form of the cell: auto, namespaces, landlock (default: auto)' },
  {
    name: 'require',
    value: 'NAME',
    repeatable: true,
    help: 'refuse to run without this mechanism: mount-namespace, landlock, cgroup, …',
  },
]

const DECISION: readonly Option[] = [
  {
    name: 'mode',
    value: 'MODE',
    help: 'default, untrusted, on_request, on_failure, never, plan, bypass, auto (see below)',
  },
  { name: 'rules', value: 'FILE', repeatable: true, help: 'another rule file (see below)' },
  {
    name: 'session',
    value: 'NAME',
    help: 'name for "session" approvals, valid eight hours (default: $CORDON_SESSION)',
  },
  {
    name: 'dry-run',
    meantBy: ['explain', 'check', 'n', 'evaluate'],
    help: 'show the decision and what would change it, and run nothing',
  },
]

const EGRESS: readonly Option[] = [
  {
    name: 'secret',
    value: 'ID=SOURCE',
    repeatable: true,
    help: 'source of a credential: env:NAME, file:PATH, command:…, keyring:…, vault:…',
  },
  { name: 'resolve', value: 'HOST=ADDRESS', repeatable: true, help: 'use this address for a granted host' },
  { name: 'upstream-ca', value: 'FILE', help: 'trust these server certificates' },
]

const REPORTS: readonly Option[] = [
  { name: 'observe', help: 'list refused files at the end' },
  { name: 'facts', value: 'FILE', help: 'write decision, boundary, violations, hosts and usage as JSON' },
  { name: 'json', help: 'print the same as one line on stderr, instead of messages' },
  { name: 'quiet', help: 'print no warnings, hints or violations' },
]

export const FORMS = ['auto', 'namespaces', 'landlock'] as const

export const RUN_HELP: CommandHelp = {
  usage: 'cordon run [options] -- COMMAND…',
  summary: 'run one command in a sandbox',
  description: [
    'Runs one command in a sandbox. It can use the programs and libraries of the system and what',
    'you grant. By default: no user files, no network, no variables, no other processes.',
  ],
  groups: [
    { title: 'grants', options: GRANTS },
    { title: 'limits', options: LIMITING },
    { title: 'sandbox', options: CELL },
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
  ],
}
