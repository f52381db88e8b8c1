import { expect, test } from 'vitest'

import { APPROVALS_HELP } from '../../src/cli/approvals-help.js'
import { DEMO_HELP } from '../../src/cli/demo-help.js'
import { DOCTOR_HELP } from '../../src/cli/doctor-help.js'
import { renderHelp } from '../../src/cli/help.js'
import { LOG_HELP } from '../../src/cli/log-help.js'
import type { CommandHelp } from '../../src/cli/help.js'
import { POLICY_HELP } from '../../src/cli/policy-help.js'
import { RUN_HELP } from '../../src/cli/run-options.js'
import { SERVE_HELP } from '../../src/cli/serve-help.js'
import { TEAM_HELP } from '../../src/cli/team-help.js'
import { TOKENS_HELP } from '../../src/cli/tokens-help.js'
import { TOOLS_HELP } from '../../src/cli/tools-help.js'
import { RUNNER_HELP } from '../../src/cli/runner-help.js'
import { WHY_HELP } from '../../src/cli/why-help.js'
import { MECHANISMS } from '../../src/policy/index.js'

const command = (name: string, help: CommandHelp, more: readonly string[] = []): readonly string[] => [
  `## cordon ${name}`,
  '',
  ...renderHelp(help)
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`)),
  '',
  ...more,
]

const RUN_PAGE = [
  '### What the command sees',
  '',
  'The programs and libraries of the system, a private `/tmp`, its own `/proc` and a small `/dev`. Its',
  'environment is `PATH` (the one of the system), `HOME` and `TMPDIR` (the private folder), `TERM` at a',
  'terminal, and what `--env` names. The working directory is the current one; it can be looked into',
  'only where it is granted.',
  '',
  'Pipes and sockets are handed over as they are. Files are copied from and to, because a descriptor',
  'of a file would let the command change its mode or cut it short. A terminal is a new one, in a new',
  'session, joined to the one of the caller: keys, size, `^C` and `^Z` work as usual, and a stream that',
  'is redirected stays redirected. In a pipeline (`cordon run -- git log | less`) the keys are left to',
  'the others until the command asks for them.',
  '',
  '### Policies and options',
  '',
  'Files add up: lists are joined, equal entries are one, the strictest limit counts, and what contradicts',
  'each other is an error that names both places. What is typed comes last: grants are added, and limits, variables,',
  '`--net none|all` and `--exec none|all` replace what files say. Relative globs start at the current',
  'directory, also those of policy files.',
  '',
  'A policy is named (`--policy github`, see `cordon policy list`) or given by its file (`./build.yaml`).',
  '[policy-files.md](policy-files.md) says where they lie, what may stand in them, and who is trusted with what.',
  '',
  'A credential of a policy gets its value from `--secret ID=SOURCE`, or else, where the policy is a bundled one,',
  'yours or of a trusted project, from `secrets.yaml` of the user (`ID: SOURCE`), or from the variable by whose name',
  'the command finds a stand-in. Where there is no value, the command does not run (125, `credential-missing`). A',
  'variable that holds a value, or in whose text one stands, does not reach the command: the run is refused (125,',
  '`credential-exposed`).',
  '',
  '### Whether it may run',
  '',
  'A command is decided about like the call of a tool, by the rules and the mode that',
  '[decisions-and-rules.md](decisions-and-rules.md) describes: denied (125), run, or asked about. Every run is',
  'recorded in the [log](audit.md), `$CORDON_AUDIT` or that of `cordon log`; when that cannot be written, the',
  'command is refused (125). What is refused before it is judged, for its policies or credentials, is recorded, too.',
  '`--dry-run` says what would be decided, by which rule of which file and line, and',
  'what would change it; it ends with 0 where the command would run unasked, otherwise with 125. With `--json`',
  'that is said as facts, on stdout.',
  '',
  'Somebody can be asked where at least one of stdin, stdout and stderr is a terminal and the keys are this',
  'job\'s. The question goes to `/dev/tty`, never to the streams of the command. It shows the words, the program,',
  'the folder, the boundary and the reason; what cannot be seen (controls, changes of direction, odd blanks) is',
  'shown in escapes. What was typed before there was a question is dropped, and no answer is the default.',
  '',
  '| answer | what follows |',
  '| --- | --- |',
  '| `once` | it runs |',
  '| `session` | it runs, and again without a question for eight hours where `--session` (or `CORDON_SESSION`) has the same name and everything else is the same; kept in `$XDG_STATE_HOME/cordon/sessions`. Not offered without a session |',
  '| `always` | it runs, and a rule for exactly these words, this program, folder and boundary is added to `rules.yaml` of the user, with who and when; comments and all else stay. Not offered where it could not help: beside a rule that asks, or where only managed rules may allow |',
  '| `reject` | it does not run (125); the reason goes to whoever wanted it, and into the log |',
  '| `edit` | the words can be changed (quotes keep them together, nothing is expanded); what comes out is judged anew, and what the rules do not deny runs once |',
  '',
  'Without anybody to ask the run is refused at once (125, `approval-unavailable`), and the line `fix:` has the',
  'rule that would allow exactly this.',
  '',
  '### Protected names',
  '',
  'Some names in a write root are run or obeyed by programs outside of the cell: git hooks and',
  'configuration, shell start-up files, editor tasks, agent settings, `package.json` and more. They can be',
  'read, but not changed: the command gets `EROFS`, `EBUSY` or `EACCES`. `--write NAME` with exactly that',
  'name permits it, also where it does not exist yet (`--write . --write .envrc`). One that the command tried',
  'to remove or replace is told even when the command calls itself a success, as `git checkout` does; the exit',
  'status stays its own. (One that it opened for writing in vain is told when it fails, or with `--observe`; in',
  'the landlock form likewise.)',
  '',
  'One that the command makes is renamed to `NAME.set-aside-by-cordon-…`; the command is ended for it, or it',
  'is found when the command has ended. Either is told as `protected-name-touched`, with the `--write` that',
  'would permit it, and the exit status is 125, unless the command itself failed: then it is its own.',
  '',
  'In the landlock form of the cell nothing can be made, renamed or removed directly in a folder that has a',
  'protected name in it or beneath it: `closed_folders` in the facts lists them, and a command that fails is',
  'told. Folders beside them are as granted.',
  '',
  '### Messages',
  '',
  'Cordon speaks on stderr only, in lines that begin with `cordon:`. A refusal is one line with its code',
  '(see [errors.md](errors.md)) and a line `fix: …` with the way out. Before a run, read patterns that match',
  'nothing, variables that are not set and options about the way to hosts that have no effect are told. After a run, limits',
  'that were hit are told always, and so are granted servers that could not be used, requests that went without the credential',
  'of their host, what the proxy refused (one line for each destination, with what would allow it), and files that curl was',
  'to send and could not read, and files that a command was to write, by its words, into a folder that goes with the cell;',
  'refused connections, programs and, with `--observe`, files are told when the command failed or',
  '`--observe` is given. When the command failed, what it may have lacked is told, too: a working directory',
  'or an argument that is not granted, a protected name, libraries; which files a command was refused for',
  'reasons that no hint names, `--observe` finds out. `--quiet` leaves all of these out, but',
  'not the reason for 125; `--json` replaces everything by the facts in one line.',
  '',
  '### Facts',
  '',
  '`--facts FILE` replaces the file as a whole after the run; a pipe or a device is written to.',
  '',
  '| key | what it is |',
  '| --- | --- |',
  '| `permission_decision` | the record of the gate (`cordon/schemas/permission_decision.schema.json`): `decision` (`allow` or `sandboxed`; `deny` for what was refused; `unavailable` for what somebody would have to approve, or what this host or version cannot do), `decision_source` (`command`, `rule`, `approver`, …), `decision_reason`, and `explain` with rules, files and lines |',
  '| `permission_state` | `mode`, `rules`, `policy_sources`, `interactive` |',
  '| `sandbox_profile` | the boundary as applied: `form`, `cwd`, `read_roots`, `write_roots`, `sealed` (what stays read-only in these), `closed_folders` (where nothing can be made), `network`, `environment_ref` (names only), `process_limits`, and `enforced`, which names the mechanisms that hold each boundary; `null` when nothing ran |',
  '| `violations` | what was tried and refused, or the limit that was reached: `kind`, and what that kind is about (an address, a path, `limit` and `used`) |',
  '| `usage` | `wall_ms`, `cpu_ms`, `max_rss_bytes`, `peak_memory_bytes` (where a cgroup counted, otherwise null) |',
  '| `command` | `argv` (as it ran), `cwd` |',
  '| `result` | `status` (`exited`, `signaled`, `limit`, `violated`, `refused`, `evaluated` of `--dry-run`), `exit_status` of Cordon, `exit_code`, `signal`, `limit`, `error` |',
  '',
]

const MECHANISMS_PAGE = [
  '### Mechanisms',
  '',
  `\`--require\` knows: ${MECHANISMS.map((name) => `\`${name}\``).join(', ')}. A host that`,
  'cannot hold one that is required refuses the run; `cordon doctor` says what it can hold. `broker` is',
  'there where a host is granted (`--net HOST`).',
  '',
]

const page = [
  '# Command line',
  '',
  'This page is written from the help of the commands by `npx vitest run test/cli/cli-page.test.ts -u`.',
  '',
  ...command('run', RUN_HELP, [...RUN_PAGE, ...MECHANISMS_PAGE]),
  ...command('doctor', DOCTOR_HELP),
  ...command('policy', POLICY_HELP),
  ...command('log', LOG_HELP),
  ...command('why', WHY_HELP),
  ...command('serve', SERVE_HELP),
  ...command('approvals', APPROVALS_HELP),
  ...command('tools', TOOLS_HELP),
  ...command('team', TEAM_HELP),
  ...command('tokens', TOKENS_HELP),
  ...command('runner', RUNNER_HELP),
  ...command('demo', DEMO_HELP),
].join('\n')

test('docs/cli.md says what the help says', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/cli.md')
})
