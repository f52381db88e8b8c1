// Every error Cordon can raise, one entry per code. To add one, add an entry here and run
// `npx vitest run test/errors -u`, which rewrites docs/errors.md to match.
//
// `{name}` is a parameter; the compiler demands exactly those names from `fail(code, params)`.
// `agent` is what a model gets to see: it must not reveal host paths or settings that the
// model did not supply itself, so most of these texts take no parameters.

import { AUDIT_ERRORS } from './audit-errors.js'
import { DECISION_ERRORS } from './decision-errors.js'
import { EGRESS_ERRORS } from './egress-errors.js'
import type { ErrorText } from './error-text.js'
import { RUNTIME_ERRORS } from './runtime-errors.js'
import { SERVER_ERRORS } from './server-errors.js'
import { STORE_ERRORS } from './store-errors.js'

export type { ErrorText } from './error-text.js'

export const ERRORS = {
  // policy
  'policy-not-an-object': {
    when: 'A policy, or a section that has keys, is something else than a mapping.',
    message: '{source}: {where} must be a mapping of keys to values, not {found}',
    agent: 'The policy of this tool is invalid.',
    fix: '{hint}',
  },
  'policy-unknown-key': {
    when: 'A policy contains a key that Cordon does not know; ignoring it could leave a right open.',
    message: '{source}: unknown key "{key}" in {where}',
    agent: 'The policy of this tool is invalid.',
    fix: '{hint}',
  },
  'policy-missing-key': {
    when: 'An entry lacks a key that every such entry must have.',
    message: '{source}: {where} has no "{key}"',
    agent: 'The policy of this tool is invalid.',
    fix: 'add a line: {line}',
  },
  'policy-invalid-value': {
    when: 'A value has the wrong type or form.',
    message: '{source}: {where} must be {expected}, not {found}',
    agent: 'The policy of this tool is invalid.',
    fix: '{hint}',
  },
  'policy-conflict': {
    when: 'Two entries of one policy, or of several that are to hold together, contradict each other.',
    message: '{source}: {where}: {conflict}',
    agent: 'The policy of this tool is invalid.',
    fix: '{fix}',
  },
  'policy-syntax': {
    when: 'A policy file is not valid YAML or JSON.',
    message: '{source}: {problem}',
    agent: 'The policy of this tool is invalid.',
    fix: 'correct the file at that line: brackets, quotes and indentation',
  },
  'policy-unsafe': {
    when: 'A policy file, or its folder, is one that others than those who may speak for its source can write.',
    message: 'the policy {path} cannot be relied on: {problem}',
    agent: 'The policy of this tool is invalid.',
    fix: '{fix}',
  },
  'own-file-exposed': {
    when: 'A tool would be granted a file that Cordon itself reads or writes: the value of a credential, a policy, rules, the audit log, the store.',
    message: 'no tool may have {path}, which is {what}: {problem}',
    agent: 'The policy of this tool is not permitted on this host.',
    fix: '{fix}',
  },
  'policy-untrusted': {
    when: 'A policy that came with a project grants something, and nobody here has said that this project may.',
    message: '{source} came with the project in {folder} and grants something ({what}); a project that nobody vouches for can only narrow',
    agent: 'The policy of this tool is not trusted.',
    fix: '{fix}',
  },
  'policy-example-fails': {
    when: 'An example in a policy file is not what the policy says.',
    message: '{source}: the example "{example}" fails: {problem}',
    agent: 'The policy of this tool is invalid.',
    fix: 'correct the policy or the example',
  },
  'client-unreadable': {
    when: 'A policy takes its hosts from the configuration of a program, which cannot be asked for it.',
    message: 'the hosts of {client} are not known: {problem}',
    agent: 'The policy of this tool cannot be used on this host.',
    fix: '{fix}',
  },
  'glob-malformed': {
    when: 'A path pattern cannot be read exactly as written.',
    message: '{where}: the pattern "{glob}" is malformed: {problem}',
    agent: 'A path pattern in the policy of this tool is malformed.',
    fix: 'use ** * ? and braces alone; a character that means something is written with a backslash before it',
  },
  'glob-too-many': {
    when: 'A pattern stands for more existing objects than the limit allows.',
    message: 'the pattern "{glob}" stands for more than {limit} {what}',
    agent: 'A path pattern in the policy of this tool is too broad.',
    fix: 'grant the directory that holds them (dir/**), or split the pattern',
  },
  'glob-matches-nothing': {
    when: 'A pattern that is expanded to existing objects when the cell starts finds none.',
    message: 'the pattern "{glob}" matches no existing file or directory',
    agent: 'A path that this tool needs does not exist.',
    fix: 'create what it names first, or grant the directory (dir/**)',
  },
  'host-malformed': {
    when: 'A network entry is not a host, *.host, host:port or CIDR.',
    message: '{where}: the network entry "{entry}" is malformed: {problem}',
    agent: 'A network entry in the policy of this tool is malformed.',
    fix: '{fix}',
  },

  // planning a boundary
  'path-missing': {
    when: 'A granted path does not exist, so nothing can be bound there.',
    message: 'the granted path {path} does not exist',
    agent: 'A path that this tool needs does not exist.',
    fix: '{fix}',
  },
  'path-denied': {
    when: 'A granted path cannot be looked at by the user that runs Cordon, so whether it exists is not known.',
    message: 'the granted path {path} cannot be looked at: {problem}',
    agent: 'A path that this tool needs cannot be reached.',
    fix: 'have somebody permit it (chmod, chown), or remove the grant; a cell has no more rights than the user who starts it',
  },
  'path-is-symlink': {
    when: 'A granted path leads through a symbolic link; a grant follows no links, because they can be changed.',
    message: 'the granted path {path} is or contains a symbolic link',
    agent: 'A path that this tool needs is a symbolic link.',
    fix: 'grant the real path: {real}',
  },
  'cwd-missing': {
    when: 'The working directory does not exist or is not a directory.',
    message: 'the working directory {path} does not exist or is not a directory',
    agent: 'The working directory of this tool does not exist.',
    fix: 'create it, or name another with --cwd',
  },
  'owner-shut-out': {
    when: 'Cordon runs as root, what a tool may write belongs to another user, and that user cannot reach another granted path.',
    message: '{root} belongs to user {uid}, as whom the tool would run, and that user cannot reach {path}',
    agent: 'A folder of this tool belongs to a user who cannot reach the others.',
    fix: 'grant what that user can reach; or give the folder to root: chown -R root {root}; or run Cordon as that user: setpriv --reuid={uid} --regid={gid} --clear-groups cordon …',
  },
  'grant-inexpressible': {
    when: 'The host\'s mechanisms cannot hold a grant exactly as written; it is never widened instead.',
    message: 'the {section} grant "{grant}" cannot be held exactly here: {problem}',
    agent: 'The boundary of this tool cannot be enforced on this host.',
    fix: '{fix}',
  },
  'limit-unsupported': {
    when: 'A declared limit cannot be enforced on this host.',
    message: 'the limit {limit} cannot be held on this host: {problem}',
    agent: 'A limit of this tool cannot be enforced on this host.',
    fix: '{fix}',
  },
  'network-grant-unsupported': {
    when: 'A network grant cannot be enforced by this host or this version.',
    message: 'the network grant "{grant}" cannot be held here: {problem}',
    agent: 'The network access of this tool cannot be enforced on this host.',
    fix: '{fix}',
  },
  'plan-rejected': {
    when: 'A boundary is contradictory or too large to be turned into a plan.',
    message: 'the boundary cannot be planned: {problem}',
    agent: 'The boundary of this tool cannot be built.',
  },

  // the host and the launcher
  'launcher-missing': {
    when: 'The compiled launcher is not installed.',
    message: 'the launcher cordon-cell was not found (looked at {looked})',
    agent: 'The sandbox is not installed on this host.',
    fix: 'install a C compiler (apt-get install gcc libc6-dev) and run `npm rebuild cordon` (in a checkout: `npm run build`), or install the prebuilt launcher: npm install {package}',
  },
  'launcher-mismatch': {
    when: 'The launcher is of another version than this library, and does not understand its plans.',
    message: 'the launcher is of another version than this library: {problem}',
    agent: 'The sandbox is not installed correctly on this host.',
    fix: 'build it anew: `npm rebuild cordon` (in a checkout: `npm run build`), or install the launcher package of the same version',
  },
  'launcher-died': {
    when: 'The launcher ended without reporting how the call ended.',
    message: 'the launcher died ({how}) before it reported a result',
    agent: 'The sandbox failed; the tool may or may not have run.',
  },
  'platform-unsupported': {
    when: 'No backend exists for this operating system.',
    message: 'no sandbox backend for {platform}',
    agent: 'The sandbox is not available on this host.',
    fix: 'run on Linux',
  },
  'host-cannot-hold': {
    when: 'A mechanism that the policy requires, or that a boundary depends on, is missing on this host.',
    message: 'this host cannot hold {mechanism}: {problem}',
    agent: 'The boundary of this tool cannot be enforced on this host.',
    fix: '{fix}',
  },
  'setup-failed': {
    when: 'The launcher could not build the boundary. The program did not start.',
    message: 'the boundary could not be built: stage {stage}: {errno} {detail}',
    agent: 'The sandbox could not be built; the tool did not run.',
    fix: '{fix}',
  },

  // running
  'program-not-found': {
    when: 'The program does not exist, inside the boundary or at all.',
    message: 'program not found: {program}',
    agent: 'The program of this tool was not found.',
    fix: '{fix}',
  },
  'program-not-executable': {
    when: 'The program exists but cannot be executed.',
    message: 'program not executable: {program}: {problem}',
    agent: 'The program of this tool cannot be executed.',
    fix: '{fix}',
  },
  'protected-name-touched': {
    when: 'A command made or removed a name that is protected in its write root. What it made was renamed at once, so that nothing runs it.',
    message: '{what}',
    agent: 'The tool touched a file that other programs run or obey without being asked, which it may not.',
    fix: '{fix}',
  },
  'cancelled': {
    when: 'The caller\'s abort signal ended the call.',
    message: 'the call was cancelled by its caller',
    agent: 'The call was cancelled.',
  },
  'sandbox-closed': {
    when: 'A call was made on a sandbox or pool that has been closed.',
    message: 'this {what} is already closed',
    agent: 'The sandbox is shutting down.',
  },
  // audit
  ...AUDIT_ERRORS,

  // deciding about a call
  ...DECISION_ERRORS,

  // command line
  'usage-error': {
    when: 'The command line cannot be understood.',
    message: '{problem}',
    agent: 'The command line is invalid.',
    fix: '{fix}',
  },
  'mode-forbids': {
    when: 'The mode of the run permits less than what was granted.',
    message: 'the mode {mode} runs only what reads, and {what} was granted',
    agent: 'The mode of this session permits only reading.',
    fix: 'remove the grant, or run without --mode {mode}',
  },
  'file-unreadable': {
    when: 'A file named on the command line cannot be read.',
    message: 'cannot read {path}: {problem}',
    agent: 'A file that the command line names cannot be read.',
    fix: '{fix}',
  },
  'file-syntax': {
    when: 'A file named on the command line is not valid YAML or JSON.',
    message: '{source} is no {form}: {problem}',
    agent: 'A file that the command line names cannot be read.',
    fix: '{fix}',
  },
  'file-unwritable': {
    when: 'A file named on the command line cannot be written.',
    message: 'cannot write {path}: {problem}',
    agent: 'A file that the command line names cannot be written.',
    fix: 'name a file in a folder that exists and that you may write to',
  },
  // runtime
  ...RUNTIME_ERRORS,
  ...EGRESS_ERRORS,
  ...STORE_ERRORS,
  ...SERVER_ERRORS,
} as const satisfies Record<string, ErrorText>

export type ErrorCode = keyof typeof ERRORS

type NamesIn<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never

/** The parameters of a code: every `{name}` in any of its texts. */
export type ErrorParams<Code extends ErrorCode> = Readonly<
  Record<NamesIn<Extract<(typeof ERRORS)[Code][keyof (typeof ERRORS)[Code]], string>>, string | number>
>
