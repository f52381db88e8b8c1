import { expect, test } from 'vitest'

import { DEMO_HELP } from '../../src/cli/demo-help.js'
import { DOCTOR_HELP } from '../../src/cli/doctor-help.js'
import { renderHelp } from '../../src/cli/help.js'
import { LOG_HELP } from '../../src/cli/log-help.js'
import type { CommandHelp } from '../../src/cli/help.js'
import { RUN_HELP } from '../../src/cli/run-options.js'
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
  'Files add up: lists are joined, the strictest limit counts, and two different values for one',
  'variable are an error. What is typed comes last: grants are added, and limits, variables,',
  '`--net none|all` and `--exec none|all` replace what files say. Relative globs start at the current',
  'directory, also those of policy files.',
  '',
  'A policy is named by its file (`./build.yaml`); this version brings none along.',
  '',
  '### Protected names',
  '',
  'Some names in a write root are run or obeyed by programs outside of the cell: git hooks and',
  'configuration, shell start-up files, editor tasks, agent settings, `package.json` and more. They can be',
  'read, but not changed: the command gets `EROFS`, `EBUSY` or `EACCES`. `--write NAME` with exactly that',
  'name permits it, also where it does not exist yet (`--write . --write .envrc`).',
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
  'nothing and variables that are not set are told. After a run, limits that were hit are told always;',
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
  '| `permission_decision` | `decision` (`allow`; `deny` for what was refused; `unavailable` for what this host or version cannot do), `decision_source: command`, `decision_reason` with the grants that were typed, `decision_id`, `scope: call` |',
  '| `permission_state` | `mode`, `policy_sources`, `interactive` |',
  '| `sandbox_profile` | the boundary as applied: `form`, `cwd`, `read_roots`, `write_roots`, `sealed` (what stays read-only in these), `closed_folders` (where nothing can be made), `network`, `environment_ref` (names only), `process_limits`, and `enforced`, which names the mechanisms that hold each boundary; `null` when nothing ran |',
  '| `violations` | what was tried and refused, or the limit that was reached: `kind`, and what that kind is about (an address, a path, `limit` and `used`) |',
  '| `usage` | `wall_ms`, `cpu_ms`, `max_rss_bytes`, `peak_memory_bytes` (where a cgroup counted, otherwise null) |',
  '| `command` | `argv`, `cwd` |',
  '| `result` | `status` (`exited`, `signaled`, `limit`, `violated`, `refused`), `exit_status` of Cordon, `exit_code`, `signal`, `limit`, `error` |',
  '',
]

const MECHANISMS_PAGE = [
  '### Mechanisms',
  '',
  `\`--require\` knows: ${MECHANISMS.map((name) => `\`${name}\``).join(', ')}. A host that`,
  'cannot hold one that is required refuses the run; `cordon doctor` says what it can hold. `cgroup` and',
  '`broker` are not in this version.',
  '',
]

const page = [
  '# Command line',
  '',
  'This page is written from the help of the commands by `npx vitest run test/cli/cli-page.test.ts -u`.',
  '',
  ...command('run', RUN_HELP, [...RUN_PAGE, ...MECHANISMS_PAGE]),
  ...command('doctor', DOCTOR_HELP),
  ...command('log', LOG_HELP),
  ...command('demo', DEMO_HELP),
].join('\n')

test('docs/cli.md says what the help says', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/cli.md')
})
