// The help of each command. It has its own file so that `cordon --help` loads no command.
import { flag, value, values } from 'cordon/commands'
import type { CommandHelp, CommandSource } from 'cordon/commands'

import { STORE_OPTIONS, storeHelp } from '../options/store-help.js'

export const TEAM_HELP = storeHelp({
  usage:
    'cordon team create NAME | show | add|remove MEMBER KIND… | stop|pause|resume | profile NAME | budget | ' +
    'limit [options]',
  summary: 'manage members, stops, profiles and budgets of a team',
  description: [
    'create makes a team with you (--as) as its admin. add and remove change members: admin, operator (approves), agent',
    '(calls) or runner (runs approved calls). stop refuses calls. pause accepts calls but starts none. Both ' +
      'apply to the',
    'team or to one --agent, --tool or --profile, until resume. Running calls continue and are listed; stop ' +
      '--cancel stops',
    'them too, and waits. profile replaces the tools that its agents may call: those of --allow, in the ' +
      'groups of --group,',
    'without those of --deny. budget limits the calls or the cost of an agent or a profile; show prints its ' +
      'use. limit sets',
    'how many approvals of an agent may be pending at the same time (default: 100).',
  ],
  options: [
    value('reason', 'TEXT', 'the reason (stop, pause)', 'because'),
    flag('cancel', 'also cancel running calls, and wait (stop)', 'now kill force'),
    value('wait', 'TIME', 'how long to wait: 10s, 2m (default: 30s) (stop --cancel)', 'timeout'),
    value('agent', 'NAME', 'this agent (stop, pause, resume, budget, limit)'),
    value('tool', 'TOOL', 'this tool (stop, pause, resume)'),
    value('profile', 'NAME', 'this profile (stop, pause, resume, budget)'),
    values('allow', 'TOOL', 'allow this tool (default: all) (profile)'),
    values('deny', 'TOOL', 'deny this tool (profile)'),
    values('group', 'NAME', 'allow this category (default: all) (profile)'),
    flag('ask', 'every call needs approval (profile)'),
    values('ask-about', 'TOOL', 'every call of this tool needs approval (profile)'),
    flag('default', 'use this profile for assignments without one (profile)'),
    value('calls', 'N', 'number of calls (budget)'),
    value('cost', 'N', 'measured cost (budget)'),
    flag('off', 'remove the budget for this period, or the limit (budget, limit)', 'remove none'),
    value('waiting', 'N', 'number of pending approvals (limit)'),
    value('per', 'TIME', 'period: 1m, 1h, 1d (budget)'),
  ],
})

export const TOOLS_HELP = storeHelp({
  usage:
    'cordon team tools list | register FILE… | show|enable|disable TOOL | approve TOOL VERSION | assign|revoke TOOL AGENT [options]',
  summary: 'register tools of a team and assign them to agents',
  description: [
    'register reads tools from YAML or JSON files (- is standard input) and creates each tool, or its next version.',
    'Approvals of an older version do not apply to the new one. assign lets an agent call a tool, revoke ends that,',
    'disable ends it for all agents. A version that may do more than the last usable one cannot be called before an',
    'operator approves it. show says what it may newly do.',
  ],
  options: [
    values('assign', 'AGENT', 'also assign it to this agent (register)'),
    value('reason', 'TEXT', 'why you approve it, for the audit log (approve)'),
    value('profile', 'NAME', 'the profile for calls of this agent (assign)'),
  ],
  notes: [
    'Keys of FILE:',
    '  key, name, description, category',
    '  input, output         JSON Schemas; input that does not fit is refused, output that does not fit is reported',
    '  egress_class          none, read_only or write (default: write)',
    '  requires_approval     ask people about every call; write and dangerous tools always ask (default: true)',
    '  approvals_needed, dangerous, endpoint, method, credential',
    '  auth_method           api_key, oauth or service_account',
    '  needs_labels, needs_boundary',
    '  expected_cost, prices of a call, cpu_second, wall_second or megabyte sent or received, to measure the ' +
      'cost of calls',
    '  definition            how it runs: kind, command, policy, …',
    'Print the tools of a runner in this form: cordon runner --tools DIR --registrations | cordon team tools register -',
  ],
})

export const CALLS_HELP = storeHelp({
  usage: 'cordon team calls list | show CALL | cancel CALL… [options]',
  summary: 'list, show and cancel calls of a team',
  description: [
    'list prints calls, newest first. Agents see only their own. show prints one call with input and output. cordon',
    'why CALL explains its decision. cancel withdraws a pending call and stops a running one; the caller, an operator',
    'or an admin may do that. It waits up to --wait for the call to end, and does not undo its effects. The start or',
    'end of an id is enough, among the last 1000 calls.',
  ],
  options: [
    value(
      'status',
      'STATUS',
      'pending, approved, running, completed, failed, rejected, expired or cancelled (list)',
      'state',
    ),
    value('agent', 'NAME', 'only this agent (list)'),
    value('tool', 'TOOL', 'only this tool (list)'),
    value('profile', 'NAME', 'only this profile (list)'),
    value('limit', 'N', 'number of calls, up to 1000 (default: 50) (list)', 'most last'),
    value('reason', 'TEXT', 'the reason; recorded (cancel)', 'because message'),
    value('wait', 'TIME', 'how long to wait for running calls: 10s, 2m (default: 30s) (cancel)', 'timeout'),
  ],
  notes: ['cancel exits with 1 if a call had already ended, or still runs after --wait.'],
})

export const RUNS_HELP = storeHelp({
  usage: 'cordon team runs start NAME --plan FILE | list | show|approve|reject|cancel RUN [options]',
  summary: 'approve a plan once, then make the calls of its run',
  description: [
    'start asks people to approve a plan, which is a mapping in YAML or JSON. show prints the plan, the answers and',
    'the calls of the run. approve and reject answer; cordon approvals list shows runs too. An approval is for the',
    'hash of the shown plan. Whoever started a run cannot approve it. Calls can use an approved run until it expires.',
    'cancel ends the run and its open calls; the person who started it, an operator or an admin may do that. The start',
    'or end of a RUN id is enough.',
  ],
  options: [
    value('plan', 'FILE', 'the plan; - is standard input (start)', 'file'),
    value('needed', 'N', 'number of people who must approve (default: 1) (start)', 'approvals'),
    value('for', 'TIME', 'how long it is valid: 8h, 7d (default: 1d) (start)'),
    value('status', 'STATUS', 'pending, approved, rejected, expired or cancelled (list)'),
    value('hash', 'HASH', 'the hash of the shown plan (approve)', 'yes force'),
    value('reason', 'TEXT', 'the reason; recorded (approve, reject, cancel)', 'because message'),
  ],
})

export const APPROVALS_HELP = storeHelp({
  usage: 'cordon approvals list|watch | show|approve [ID] | reject ID | advance TOOL | revoke ID [options]',
  summary: 'list, approve and reject pending calls',
  description: [
    'list prints pending approvals. Agents take turns, each with its oldest first. watch also prints new approvals',
    'and decisions. show prints everything that would run: tool, version, arguments, agent, caller and boundary.',
    'approve shows the same and asks at the terminal; without a terminal it needs the --hash that show prints. An',
    'approval is for exactly these arguments and this version. reject needs --reason, which the agent reads.',
    'advance approves future calls, list --standing prints such standing approvals, revoke removes one. ID is the',
    'approval or its call (with revoke: the standing approval); the start or end of the id is enough. Without an ID,',
    'show and approve take the first approval whose caller still waits.',
  ],
  options: [
    flag('standing', 'list valid standing approvals (list)', 'advance in-advance'),
    flag('given', 'list answers "always" and "session" of this user (list)', 'local always session'),
    value('hash', 'HASH', 'the hash of the shown arguments (approve)', 'yes force'),
    value(
      'reason',
      'TEXT',
      'the reason; recorded and shown to the agent (reject, approve, advance)',
      'because message',
    ),
    value('arguments', 'SCHEMA', 'a JSON Schema that the arguments must fit (advance)'),
    value('uses', 'N', 'number of calls (default: 1) (advance)'),
    value('for', 'TIME', 'how long it is valid: 30m, 8h, 7d (default: 1h) (advance)'),
    value('agent', 'NAME', 'only this agent (list, advance)'),
    value('tool', 'TOOL', 'only this tool (list)'),
    value('older', 'TIME', 'only approvals that have waited this long: 30m, 8h (list)', 'age since'),
    value('after', 'ID', 'next page: start after this approval (list)', 'page next'),
    value('limit', 'N', 'at most N entries (default: 100) (list)', 'most last'),
  ],
})

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

export const CREDENTIALS_HELP = storeHelp({
  usage: 'cordon team credentials key FILE | list | put NAME | remove NAME [options]',
  summary: 'store sealed credentials of a team for its runners',
  description: [
    'key creates a key in a new file. put reads a value from stdin, seals it here with that key and stores the sealed',
    'value, which the store cannot read. A runner with the key (cordon runner --key FILE --secret ID=store:TEAM/NAME)',
    'opens it while it runs a call of a tool that is registered with this credential, and adds it to requests. The tool',
    'never sees it. The log records who stored and who used it.',
  ],
  options: [value('key', 'FILE', 'the key (default: $CORDON_KEY_FILE) (put)')],
})

export const SERVE_HELP: CommandHelp = {
  usage: 'cordon serve [options]',
  summary: 'serve the registry of a team to other processes',
  description: [
    'Opens a store and serves the registry in it: to cordon approvals, tools, team and tokens, to runtimes',
    '(teamRegistry({ server, … }) of @cordon/team) and to any HTTP client. GET /openapi.json describes the API. ' +
      'Its socket is',
    'only for the user who runs it, who owns the store. Everybody else needs a token, with the rights of its member.',
  ],
  groups: [
    {
      title: 'store',
      options: [
        value(
          'store',
          'DIR',
          'an embedded store, created if missing (default: $CORDON_STORE, ~/.local/state/cordon/store)',
          'folder dir',
        ),
        value(
          'database',
          'URL',
          'PostgreSQL, with a login in cordon_gateway (default: $CORDON_DATABASE); see docs/serve.md',
          'db postgres',
        ),
        value(
          'connections',
          'NUMBER',
          'connections to PostgreSQL; a team uses at most three quarters, a member half (default: 10)',
          'pool',
        ),
        value('statement-timeout', 'TIME', 'statement timeout; for a lock, half of it (default: 15s)', 'timeout'),
        value(
          'init',
          'TEAM',
          'create this team if missing, with you as admin and operator, and one agent with a token',
          'create team',
        ),
        value('agent', 'NAME', 'the name of that agent (default: agent-1)'),
        value('token-out', 'FILE', 'file for its token (default: ~/.local/state/cordon/NAME.token)', 'out'),
        value('as', 'NAME', 'member for socket requests that name none (default: $CORDON_ACTOR, your login)'),
      ],
    },
    {
      title: 'listening',
      options: [
        value('socket', 'PATH', 'a Unix socket for you alone (default: DIR/socket of an embedded store)'),
        value(
          'listen',
          'ADDRESS',
          'an address for clients with a token: 127.0.0.1:7070, [::1]:7070; port 0 picks a free port',
          'port bind address',
        ),
        values('host', 'NAME', 'a host name of this server; requests for other names are refused'),
        value('tls-cert', 'FILE', 'certificate with its chain, PEM; required if other hosts connect'),
        value('tls-key', 'FILE', 'key of the certificate, PEM'),
        flag('plain-http', 'accept other hosts without TLS, behind a proxy that encrypts'),
        value('max-body', 'SIZE', 'largest request, such as 16M (default: 4M)'),
        value('max-answer', 'SIZE', 'largest query result from PostgreSQL, such as 64M (default: 16M)'),
        flag('json', 'print the addresses as JSON'),
      ],
    },
  ],
  notes: [
    'On SIGTERM and SIGINT it finishes open requests and closes the store. Exit status: 0 after that;',
    '1 it could not start; 2 wrong usage, or a file cannot be read.',
  ],
}

export const RUNNER_HELP: CommandHelp = {
  usage: 'cordon runner --database URL --tools FILE|DIR … [options]',
  summary: 'run approved calls of a team on this host',
  description: [
    'Claims approved calls from the registry in PostgreSQL, runs each in a cell and stores the result. It serves only',
    'tools that are on this host exactly as registered, and that this host can enforce. Any number of hosts can run',
    'it; one runner runs each call. See docs/runners.md.',
  ],
  groups: [
    {
      title: 'options',
      options: [
        value('database', 'URL', 'the database of the registry (default: $CORDON_DATABASE)'),
        values('tools', 'FILE|DIR', 'tools of this host: .yaml, .json or modules'),
        value('name', 'NAME', 'name of this runner (default: the host name)'),
        values('label', 'LABEL', 'a label of this host, for tools that need it'),
        value('concurrency', 'N', 'calls at the same time (default: number of cores)'),
        value('workspace', 'DIR', 'working directory of tools (default: this directory)'),
        value('manifest', 'FILE', 'refuse tools that are not within this manifest (see: cordon manifest)'),
        values('secret', 'ID=SOURCE', 'source of a credential'),
        value('key', 'FILE', 'key for credentials of the registry, ID=store:TEAM/NAME (default: $CORDON_KEY_FILE)'),
        values('resolve', 'HOST=ADDRESS', 'use this address for a granted host'),
        value('upstream-ca', 'FILE', 'trust these certificates for granted hosts'),
        value('health', 'DIR', 'keep the files alive and ready there, for probes'),
        flag('json', 'print events as lines of JSON'),
      ],
    },
    {
      title: 'other actions',
      options: [
        flag('prepare', 'create or update the schema and the queue in the database, then exit'),
        value('registration', 'TOOL', 'print one tool as input for `cordon team tools register`, then exit'),
        flag('registrations', 'print all tools: … --registrations | cordon team tools register -'),
      ],
    },
  ],
  notes: [
    'On SIGTERM or SIGINT it claims no more calls and exits after the running ones. The second signal cancels them,',
    'the third exits at once. Exit status: 0 after such a signal; 125 it could not start.',
  ],
}

/** Options by which commands of the core are about the registry of a team. */
type SourceHelp = Pick<CommandSource, 'description' | 'groups'>

export const LOG_SOURCE_HELP: SourceHelp = {
  description: [
    'With --store, --server or --database, export and verify work on the log of a team. prune removes',
    'entries older than --keep from the store that you name.',
  ],
  groups: [
    {
      title: 'log of a team (export, verify, prune)',
      options: [
        ...STORE_OPTIONS,
        value('keep', 'DAYS', 'keep entries younger than this, such as 400d (prune)', 'older-than retention'),
      ],
    },
  ],
}

export const WHY_SOURCE_HELP: SourceHelp = {
  description: [
    'For a call of a team, it also shows who asked, who approved or rejected, and the log entries. Use its',
    'whole id, or name the store and give the start or end of the id, or "last".',
  ],
  groups: [{ title: 'store, for a call of a team', options: STORE_OPTIONS }],
}

/** Variables do not count, so that the same command writes the same file everywhere. */
export const VERSIONS_SOURCE_HELP: SourceHelp = {
  description: [],
  groups: [{ title: 'registry, for the versions of tools (only if one is typed)', options: STORE_OPTIONS }],
}
