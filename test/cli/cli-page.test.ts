import { expect, test } from 'vitest'

import { renderHelp } from '../../packages/core/src/line/help.js'
import type { CommandHelp } from '../../packages/core/src/line/help.js'
import { GENERATE_HELP } from '../../packages/manifest/src/commands/generate-help.js'
import { VERIFY_HELP } from '../../packages/manifest/src/commands/verify-help.js'
import { MCP_LOGIN_ACTIONS, MCP_LOGIN_HELP } from '../../packages/mcp/src/commands/mcp-login-help.js'
import { MCP_SETUP_ACTIONS, MCP_SETUP_HELP } from '../../packages/mcp/src/commands/mcp-setup-help.js'
import { MECHANISMS } from '../../packages/core/src/policy/index.js'

import { HELPS, expectAllCommands } from './helps.js'

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
  'The command sees the programs and libraries of the system, a private `/tmp`, its own `/proc` and a small `/dev`. Its',
  'environment is `PATH` (that of the system), `HOME` and `TMPDIR` (the private folder), `TERM` at a terminal, and the',
  'variables of `--env`. Without a network, `npm_config_fetch_retries`, `PIP_RETRIES` and `CARGO_NET_RETRY` are `0`. It',
  'starts in the current directory, which is empty unless you grant it.',
  '',
  'Cordon passes pipes and sockets to the command. It copies data from and to files, because a descriptor of ' +
    'a file would',
  'let the command change its mode or truncate it. At a terminal the command gets a new terminal in a new ' +
    'session: keys,',
  'size, `^C` and `^Z` work as usual, and redirections stay. In a pipeline (`cordon run -- git log | less`) the other',
  'programs get the keys until the command asks for them.',
  '',
  '### Policies and options',
  '',
  'Several policy files add up: lists are joined, equal entries count once, and the strictest limit wins. A ' +
    'contradiction',
  'is an error that names both places. Options come last. Grants are added, while limits, variables, `--net ' +
    'none|all` and',
  '`--exec none|all` replace those of the files. Relative globs start at the current directory, also in policy files.',
  '',
  'Give a policy by name (`--policy github`, see `cordon policy list`) or by file (`./build.yaml`).',
  '[policy-files.md](policy-files.md) says where policies come from, what they contain, and which are trusted.',
  '',
  'The value of a credential comes from `--secret ID=SOURCE`. For a policy that is bundled, yours or of a ' +
    'trusted project,',
  'it can also come from your `secrets.yaml` (`ID: SOURCE`), or from your variable with the name of the placeholder.',
  'Without a value the command does not run (125, `credential-missing`). The command never gets a variable ' +
    'that contains a',
  'value: such a run is refused (125, `credential-exposed`).',
  '',
  '### Decision',
  '',
  'Cordon decides about a command as about a tool call, by the rules and the mode of',
  '[decisions-and-rules.md](decisions-and-rules.md): it denies it (125), runs it, or asks. It records every run in the',
  '[audit log](audit.md) (`$CORDON_AUDIT`, or the default of `cordon log`). If it cannot write the log, it refuses the',
  'command (125). It also records runs that it refuses because of their policies or credentials.',
  '',
  '`--dry-run` shows the decision, the rule with its file and line, and what would change it. It exits with ' +
    '0 if the command',
  'would run without a question, otherwise with 125. With `--json` it prints the facts on stdout.',
  '',
  'Cordon can ask if stdin, stdout or stderr is a terminal and this job has the keyboard. It asks on ' +
    '`/dev/tty`, never on the',
  'streams of the command. The question shows the words, the program, the folder, the boundary and the ' +
    'reason. Invisible',
  'characters are escaped. Cordon drops keys typed before the question, and there is no default answer.',
  '',
  '| answer | effect |',
  '| --- | --- |',
  '| `once` | it runs |',
  '| `session` | it runs, and runs again without a question for eight hours if `--session` (or ' +
    '`CORDON_SESSION`) and everything else are the same; kept in `$XDG_STATE_HOME/cordon/sessions`. Offered ' +
    'only with a session |',
  '| `always` | it runs, and Cordon adds a rule to your `rules.yaml` for exactly these words, this program, ' +
    'folder and boundary, with your name and the time. Not offered if a rule asks, or if only managed rules ' +
    'may allow |',
  '| `reject` | it does not run (125); the caller and the log get the reason |',
  '| `edit` | you change the words (quotes group them, nothing is expanded); Cordon decides again, and runs ' +
    'the result once unless a rule denies it |',
  '',
  'If nobody can be asked, the run is refused (125, `approval-unavailable`), and the line `fix:` has the ' +
    'rule that would',
  'allow exactly this command.',
  '',
  '### Protected names',
  '',
  'Programs outside the cell run or obey some files in a write root: git hooks and configuration, shell start-up files,',
  'editor tasks, agent settings, `package.json` and more. The command can read them but not change them: it ' +
    'gets `EROFS`,',
  '`EBUSY` or `EACCES`. `--write NAME` with exactly that name permits it, even if it does not exist yet',
  '(`--write . --write .envrc`). Cordon reports each attempt to change, remove or replace one, even if the ' +
    'command succeeds,',
  'as `git checkout` does. The exit status stays that of the command.',
  '',
  'If the command creates a protected name, Cordon renames it to `NAME.set-aside-by-cordon-…` and kills the ' +
    'command, or finds',
  'it when the command has ended. Both are reported as `protected-name-touched`, with the `--write` that ' +
    'would permit it. The',
  'exit status is 125, unless the command itself failed.',
  '',
  'In the `landlock` form a command cannot create, rename or remove anything directly in a folder that ' +
    'contains a protected',
  'name at any depth. `closed_folders` in the facts lists these folders, and Cordon mentions them if the ' +
    'command fails. Other',
  'folders are not affected.',
  '',
  '### Messages',
  '',
  'Cordon writes only to stderr, in lines that start with `cordon:`. A refusal is one line with its code (see',
  '[errors.md](errors.md)) and a line `fix: …`.',
  '',
  '- Before a run, Cordon warns about read patterns that match nothing, variables that are not set, and network options',
  '  without effect.',
  '- After every run, it reports limits that were reached, granted servers that could not be used, requests without the',
  '  credential of their host, and destinations that the proxy refused. It also reports files that curl ' +
    'could not read, and',
  '  files that the command wrote into a folder that disappears with the cell.',
  '- If the command failed, or with `--observe`, it reports refused connections, programs and file changes. ' +
    'With `--observe`',
  '  it also lists files that could not be read.',
  '- If the command failed, it also suggests what may be missing: a working directory or an argument that is ' +
    'not granted, a',
  '  protected name, libraries. If there is nothing to suggest, a terminal shows that `--observe` lists every refused',
  '  file.',
  '',
  '`--quiet` prints none of these, except the reason for 125. `--json` prints one line with the facts instead.',
  '',
  '### Facts',
  '',
  '`--facts FILE` replaces the file after the run. A pipe or a device is written to.',
  '',
  '| key | content |',
  '| --- | --- |',
  '| `permission_decision` | the record of the gate (`cordon/schemas/permission_decision.schema.json`): ' +
    '`decision` (`allow`, `sandboxed`, `deny`, or `unavailable` if it needs an approval or this host or ' +
    'version cannot do it), `decision_source` (`command`, `rule`, `approver`, …), `decision_reason`, and ' +
    '`explain` with rules, files and lines |',
  '| `permission_state` | `mode`, `rules`, `policy_sources`, `interactive` |',
  '| `sandbox_profile` | the applied boundary: `form`, `cwd`, `read_roots`, `write_roots`, `sealed` ' +
    '(read-only parts of these), `closed_folders` (nothing can be created there), `network`, `environment_ref` ' +
    '(only names), `process_limits`, and `enforced`, which names the mechanism for each boundary; `null` if ' +
    'nothing ran |',
  '| `violations` | refused attempts, or the limit that was reached: `kind`, and details (an address, a ' +
    'path, `limit` and `used`) |',
  '| `usage` | `wall_ms`, `cpu_ms`, `max_rss_bytes`, `peak_memory_bytes` (with a cgroup, otherwise null) |',
  '| `command` | `argv` (as it ran), `cwd` |',
  '| `result` | `status` (`exited`, `signaled`, `limit`, `violated`, `refused`, `not_started`, `evaluated` ' +
    'with `--dry-run`), `exit_status` of Cordon, `exit_code`, `signal`, `limit`, `error` |',
  '',
]

const MECHANISMS_PAGE = [
  '### Mechanisms',
  '',
  `\`--require\` accepts: ${MECHANISMS.map((name) => `\`${name}\``).join(', ')}.`,
  'If the host lacks a required mechanism, the run is refused. `cordon doctor` shows what the host has. `broker` is',
  'present if a host is granted (`--net HOST`).',
  '',
]

const MORE: Readonly<Record<string, readonly string[]>> = {
  run: [...RUN_PAGE, ...MECHANISMS_PAGE],
  mcp: [
    ...command(`mcp ${MCP_SETUP_ACTIONS.join('|')}`, MCP_SETUP_HELP),
    ...command(`mcp ${MCP_LOGIN_ACTIONS.join('|')}`, MCP_LOGIN_HELP),
  ],
  manifest: [...command('manifest generate', GENERATE_HELP), ...command('manifest verify', VERIFY_HELP)],
}

const page = [
  '# Command line',
  '',
  'This page is written from the help of the commands by `npx vitest run test/cli/cli-page.test.ts -u`.',
  '',
  ...Object.entries(HELPS).flatMap(([name, help]) => command(name, help, MORE[name])),
].join('\n')

test('docs/cli.md equals the help of all commands', async () => {
  expectAllCommands()
  await expect(page).toMatchFileSnapshot('../../docs/cli.md')
})
