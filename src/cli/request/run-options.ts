import { LIMIT_FORMS } from '../../policy/index.js'
import type { Limits } from '../../policy/index.js'

import type { Option } from '../arguments.js'
import type { CommandHelp } from '../help.js'

const GRANTS: readonly Option[] = [
  { name: 'read', value: 'GLOB', repeatable: true, meantBy: ['ro', 'ro-bind', 'allow-read', 'r'], help: 'may read this; a folder with all beneath it; "!GLOB" carves out' },
  { name: 'write', value: 'GLOB', repeatable: true, meantBy: ['rw', 'bind', 'allow-write', 'w'], help: 'may read and write this, but for protected names (see below)' },
  { name: 'net', value: 'HOST[:PORT]', repeatable: true, meantBy: ['network', 'allow-net', 'share-net'], help: 'a host that may be reached, *.HOST, an address or a block of them; without a port 80 and 443; "none" or "all"' },
  { name: 'env', value: 'NAME[=VALUE]', repeatable: true, meantBy: ['environment', 'setenv', 'e', 'allow-env'], help: 'gets this variable: the one of here, or with the value given' },
  { name: 'exec', value: 'NAME|PATH', repeatable: true, help: 'besides COMMAND itself may start only this; or "none", or "all" (as without the option)' },
  { name: 'preset', value: 'NAME', repeatable: true, help: 'may use: toolchains (version managers), workspace (write here)' },
  { name: 'policy', value: 'NAME|FILE', repeatable: true, help: 'gets what this policy grants (see: cordon policy list); relative globs start at this directory' },
]

/** The options that set a limit, and other words that people may try; the other limits are for policy files. */
const LIMITING_OPTIONS: readonly { readonly name: string; readonly limit: keyof Limits; readonly meantBy?: readonly string[] }[] = [
  { name: 'memory', limit: 'memory' },
  { name: 'processes', limit: 'processes', meantBy: ['pids', 'procs', 'threads'] },
  { name: 'cpu', limit: 'cpu' },
  { name: 'timeout', limit: 'wall', meantBy: ['wall', 'time', 't', 'wall-time'] },
  { name: 'output', limit: 'output' },
]

export const LIMIT_OPTIONS: Readonly<Record<string, keyof Limits>> = Object.fromEntries(LIMITING_OPTIONS.map(({ name, limit }) => [name, limit]))

const VALUES = { size: 'SIZE', duration: 'TIME', count: 'N' } as const

const LIMITING: readonly Option[] = LIMITING_OPTIONS.map(({ limit, ...option }) => ({ ...option, value: VALUES[LIMIT_FORMS[limit].quantity], help: LIMIT_FORMS[limit].of }))

const CELL: readonly Option[] = [
  { name: 'cwd', value: 'DIR', meantBy: ['chdir', 'dir', 'workdir', 'directory', 'C'], help: 'working directory of the command (otherwise: this one)' },
  { name: 'form', value: 'NAME', help: 'auto, namespaces, landlock (default: auto)' },
  { name: 'require', value: 'NAME', repeatable: true, help: 'refuse unless this mechanism holds, such as mount-namespace, landlock, seccomp-listener' },
]

const DECISION: readonly Option[] = [
  { name: 'mode', value: 'MODE', help: 'default, untrusted, on_request, on_failure, never, plan, bypass, auto (see below)' },
  { name: 'rules', value: 'FILE', repeatable: true, help: 'rules beside those of the machine, the project and the user (see below)' },
  { name: 'session', value: 'NAME', help: 'approvals "for this session" are for this name, eight hours (otherwise: $CORDON_SESSION)' },
  { name: 'dry-run', meantBy: ['explain', 'check', 'n', 'evaluate'], help: 'decide, say why and what would change it, and run nothing' },
]

const EGRESS: readonly Option[] = [
  { name: 'secret', value: 'ID=SOURCE', repeatable: true, help: 'where a credential of a policy comes from: env:NAME, file:PATH, command:…, keyring:…, vault:…' },
  { name: 'resolve', value: 'HOST=ADDRESS', repeatable: true, help: 'pins a granted name to an address' },
  { name: 'upstream-ca', value: 'FILE', help: 'trusts these certificates of servers' },
]

const REPORTS: readonly Option[] = [
  { name: 'observe', help: 'find out which files were refused, and say so at the end' },
  { name: 'facts', value: 'FILE', help: 'write the decision, the boundary, violations, hosts reached and usage as JSON' },
  { name: 'json', help: 'the same as one line on stderr, in place of messages' },
  { name: 'quiet', help: 'no messages about violations' },
]

export const FORMS = ['auto', 'namespaces', 'landlock'] as const

export const RUN_HELP: CommandHelp = {
  usage: 'cordon run [options] -- COMMAND…',
  summary: 'run one command in a cell',
  description: [
    'Runs one command that can use what is granted here and the programs and libraries of the',
    'system. Nothing else is there: no files, no network, no variables, no other processes.',
  ],
  groups: [
    { title: 'what the command may use', options: GRANTS },
    { title: 'limits', options: LIMITING },
    { title: 'how it is held', options: CELL },
    { title: 'whether it may run', options: DECISION },
    { title: 'the way to granted hosts', options: EGRESS },
    { title: 'what is reported', options: REPORTS },
  ],
  notes: [
    'Globs: ** * ? {a,b}, relative to this directory, or ~. Sizes: 64K 128M 1G. Times: 500ms 30s 2m.',
    'Options add to policies; for limits, variables, --net none|all and --exec none|all the option wins.',
    '',
    "A working directory that is not granted is empty. Beneath /tmp, which is the cell's own, a command can",
    'write to it all the same, and what it wrote goes with the cell: --write . keeps it.',
    '',
    'Protected names (git hooks and configuration, shell start-up files, package.json and more) stay',
    'read-only in what --write grants, unless a --write names one exactly. One that the command makes is',
    'renamed, and the command ended. docs/protected-names.md lists them all.',
    '',
    'Rules are read from /etc/cordon, .cordon here and above, ~/.config/cordon and --rules: rules.yaml and',
    'rules/*.yaml. The strictest of all counts: deny, ask, allow. Their tool is called cordon:run.',
    'Who types a command and its grants approves them. Asked about is what a rule asks about, and in the mode',
    'untrusted what no rule allows: at the terminal, or not at all where there is none (125). "plan" refuses',
    'grants to write or to use the network, "never" whatever would be asked, "bypass" nothing but denials.',
    'What ran and what was refused is in the log (see: cordon log); what cannot be recorded does not run.',
    '',
    "Exit status: the command's own; 124 wall-clock limit; 125 Cordon refused, could not build the boundary,",
    'or a protected name was touched by a command that did not fail by itself; 126 not executable; 127 not',
    'found; 128+N killed by signal N.',
    'Signals: SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on; the second one kills. At a terminal so does',
    'a second ^C, but not where the command was typed to or reads single keys (a shell): there ^\\ twice.',
    'The program is looked up in the PATH of here; in the cell PATH is that of the system (see --env).',
  ],
}
