// Every error Cordon can raise, one entry per code. To add one, add an entry here and run
// `npx vitest run test/errors -u`, which rewrites docs/errors.md to match.
//
// `{name}` is a parameter; the compiler demands exactly those names from `fail(code, params)`.
// A model sees `agent`: it must not reveal host paths or settings that the
// model did not supply itself, so most of these texts take no parameters.

import { CONTAINER_ERRORS } from './container-errors.js'
import { DECISION_ERRORS } from './decision-errors.js'
import { EGRESS_ERRORS } from './egress-errors.js'
import type { ErrorText } from './cordon-error.js'
import { HOOK_ERRORS } from './hook-errors.js'
import { RUNTIME_ERRORS } from './runtime-errors.js'

export const ERRORS = {
  // policy
  'policy-not-an-object': {
    when: 'A policy, or a section that has keys, is not a mapping.',
    message: '{source}: {where} must be a mapping of keys to values, not {found}',
    agent: 'The policy of this tool is invalid.',
    fix: '{hint}',
  },
  'policy-unknown-key': {
    when: 'A policy contains an unknown key. Ignoring it could grant more than the author meant.',
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
    when: 'Two entries contradict each other, in one policy or in several that are used together.',
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
    when: 'Other users can change the policy file or its folder.',
    message: 'the policy {path} is not safe to use: {problem}',
    agent: 'The policy of this tool is invalid.',
    fix: '{fix}',
  },
  'own-file-exposed': {
    when: "A grant covers one of Cordon's own files: a credential, a policy, rules, the audit log, the registry.",
    message: 'no tool may access {path}, which is {what}: {problem}',
    agent: 'The policy of this tool is not permitted on this host.',
    fix: '{fix}',
  },
  'policy-untrusted': {
    when: 'A project policy grants something, and no user or machine rule trusts this project.',
    message:
      '{source} belongs to the project in {folder} and grants {what}; a policy of a project that is not trusted cannot grant anything',
    agent: 'The policy of this tool is not trusted.',
    fix: '{fix}',
  },
  'policy-example-fails': {
    when: 'An example in a policy file contradicts the policy.',
    message: '{source}: the example "{example}" fails: {problem}',
    agent: 'The policy of this tool is invalid.',
    fix: 'correct the policy or the example',
  },
  'glob-malformed': {
    when: 'A path pattern is not valid.',
    message: '{where}: the pattern "{glob}" is malformed: {problem}',
    agent: 'A path pattern in the policy of this tool is malformed.',
    fix: 'use only ** * ? and braces; write a backslash before a special character that you mean literally',
  },
  'glob-too-many': {
    when: 'A pattern matches more existing files than the limit allows.',
    message: 'the pattern "{glob}" matches more than {limit} {what}',
    agent: 'A path pattern in the policy of this tool is too broad.',
    fix: 'grant their directory (dir/**), or split the pattern',
  },
  'glob-matches-nothing': {
    when: 'A pattern matches no existing file when the cell starts.',
    message: 'the pattern "{glob}" matches no existing file or directory',
    agent: 'A path that this tool needs does not exist.',
    fix: 'create a matching file first, or grant the directory (dir/**)',
  },
  'host-malformed': {
    when: 'A network entry is not a host, *.host, host:port or CIDR.',
    message: '{where}: the network entry "{entry}" is malformed: {problem}',
    agent: 'A network entry in the policy of this tool is malformed.',
    fix: '{fix}',
  },

  // planning a boundary
  'path-missing': {
    when: 'A granted path does not exist.',
    message: 'the granted path {path} does not exist',
    agent: 'A path that this tool needs does not exist.',
    fix: '{fix}',
  },
  'path-denied': {
    when: 'The user who runs Cordon cannot access a granted path.',
    message: 'the granted path {path} cannot be accessed: {problem}',
    agent: 'A path that this tool needs cannot be reached.',
    fix: 'give yourself access (chmod, chown), or remove the grant; a cell never has more rights than the user who starts it',
  },
  'path-is-symlink': {
    when: 'A granted path contains a symbolic link. Grants do not follow links, because links can be changed.',
    message: 'the granted path {path} is or contains a symbolic link',
    agent: 'A path that this tool needs is a symbolic link.',
    fix: 'grant the real path: {real}',
  },
  'cwd-missing': {
    when: 'The working directory does not exist or is not a directory.',
    message: 'the working directory {path} does not exist or is not a directory',
    agent: 'The working directory of this tool does not exist.',
    fix: 'create it, or choose another with --cwd',
  },
  'owner-shut-out': {
    when: 'Cordon runs as root, the write root belongs to another user, and that user cannot access another granted path.',
    message: 'the tool would run as user {uid}, who owns {root} and cannot access {path}',
    agent: 'The owner of one granted folder cannot access another granted folder.',
    fix: 'grant only paths that user can access; or give the folder to root: chown -R root {root}; or run Cordon as that user: setpriv --reuid={uid} --regid={gid} --clear-groups cordon …',
  },
  'grant-inexpressible': {
    when: 'This host cannot enforce a grant exactly as written. Cordon never widens a grant instead.',
    message: 'this host cannot enforce the {section} grant "{grant}" exactly: {problem}',
    agent: 'The boundary of this tool cannot be enforced on this host.',
    fix: '{fix}',
  },
  'limit-unsupported': {
    when: 'A declared limit cannot be enforced on this host.',
    message: 'this host cannot enforce the limit {limit}: {problem}',
    agent: 'A limit of this tool cannot be enforced on this host.',
    fix: '{fix}',
  },
  'network-grant-unsupported': {
    when: 'This host, or this version of Cordon, cannot enforce a network grant.',
    message: 'the network grant "{grant}" cannot be enforced here: {problem}',
    agent: 'The network access of this tool cannot be enforced on this host.',
    fix: '{fix}',
  },
  'plan-rejected': {
    when: 'A boundary contradicts itself or is too large.',
    message: 'the boundary cannot be planned: {problem}',
    agent: 'The boundary of this tool cannot be built.',
  },

  // the host and the launcher
  'launcher-missing': {
    when: 'The compiled launcher is not installed.',
    message: 'the launcher cordon-cell was not found (looked at {looked})',
    agent: 'The sandbox is not installed on this host.',
    fix: 'run `npm rebuild cordon` (in a checkout: `npm run build`); it needs a C compiler (apt-get install gcc libc6-dev); or install the prebuilt launcher: npm install {package}',
  },
  'launcher-mismatch': {
    when: 'The launcher and this library have different versions.',
    message: 'the launcher does not have the version of this library: {problem}',
    agent: 'The sandbox is not installed correctly on this host.',
    fix: 'rebuild it: `npm rebuild cordon` (in a checkout: `npm run build`), or install the launcher package of the same version',
  },
  'launcher-died': {
    when: 'The launcher ended without reporting how the call ended.',
    message: 'the launcher died ({how}) before it reported a result',
    agent: 'The sandbox failed; the tool may or may not have run.',
  },
  'policy-beyond-bound': {
    when: 'A tool may do more than a bound of the machine or of its project allows (bound.yaml).',
    message: '{what} goes beyond {bound}: it {witness}',
    agent: 'This tool may do more than this machine or project allows.',
    fix: 'narrow its policy, or let the owner of {bound} widen it',
  },
  'profile-mismatch': {
    when: 'The applied boundary of a cell differs from its plan or from the permit. The tool does not run again in this runtime.',
    message: 'the applied boundary differs from the permitted one: {problem}',
    agent: 'The sandbox of this tool failed, and the tool is stopped.',
    fix: 'the launcher or Cordon is faulty: `npm rebuild cordon`, then start again; report it with the event sandbox.mismatch',
  },
  'tool-stopped': {
    when: 'An earlier call of this tool found that its applied boundary differs from the permitted one.',
    message:
      'the tool "{tool}" is stopped: the boundary of an earlier call differed from the permitted one ({problem})',
    agent: 'This tool is stopped.',
    fix: 'see the event sandbox.mismatch, then start the runtime again or register the tool anew',
  },
  'platform-unsupported': {
    when: 'The backend does not exist for this operating system.',
    message: 'on {platform} there is no sandbox backend "{backend}"',
    agent: 'The sandbox is not available on this host.',
    fix: 'run on Linux; on macOS, sandbox.backend: "seatbelt" is experimental (docs/macos.md)',
  },
  'host-cannot-hold': {
    when: 'This host lacks a mechanism that the policy requires or that a boundary needs.',
    message: 'this host cannot provide {mechanism}: {problem}',
    agent: 'The boundary of this tool cannot be enforced on this host.',
    fix: '{fix}',
  },
  'setup-failed': {
    when: 'The launcher could not build the boundary. The program did not start.',
    message: 'the boundary could not be built: stage {stage}: {problem}',
    agent: 'The sandbox could not be built; the tool did not run.',
    fix: '{fix}',
  },

  // running
  'program-not-found': {
    when: 'The program does not exist, or the cell cannot see it.',
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
    when: 'A command created or removed a protected name in a write root. Cordon renamed the new file at once, so that no program runs it.',
    message: '{what}',
    agent: 'The tool changed a protected file, which other programs run or obey unasked. That is not allowed.',
    fix: '{fix}',
  },
  'cancelled': {
    when: "The caller's abort signal ended the call.",
    message: 'the call was cancelled by its caller',
    agent: 'The call was cancelled.',
  },
  'sandbox-closed': {
    when: 'A call was made on a sandbox or pool that has been closed.',
    message: 'this {what} is already closed',
    agent: 'The sandbox is shutting down.',
  },
  // containers
  ...CONTAINER_ERRORS,

  // recording a call, and deciding about it
  ...DECISION_ERRORS,

  // command line
  'usage-error': {
    when: 'The command line cannot be understood.',
    message: '{problem}',
    agent: 'The command line is invalid.',
    fix: '{fix}',
  },
  'mode-forbids': {
    when: 'The mode of the run allows less than the grants.',
    message: 'the mode {mode} allows only reading, but {what} was granted',
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
    message: '{source} is not valid {form}: {problem}',
    agent: 'A file that the command line names cannot be read.',
    fix: '{fix}',
  },
  'file-unwritable': {
    when: 'A file named on the command line cannot be written.',
    message: 'cannot write {path}: {problem}',
    agent: 'A file that the command line names cannot be written.',
    fix: 'choose a file in an existing folder that you can write to',
  },
  'product-missing': {
    when: 'A command or a source of secrets belongs to a package that is not installed beside Cordon.',
    message: '{what} belongs to the package {name}, which is not installed beside this Cordon',
    agent: 'A part of Cordon that this needs is not installed.',
    fix: 'npm install {name}@{version}, where cordon itself is installed',
  },
  'product-version': {
    when: 'A package of Cordon has another version than Cordon itself.',
    message: '{name} has the version {version}, and cordon has {own}',
    agent: 'A part of Cordon does not fit the rest of it.',
    fix: 'npm install {name}@{own} cordon@{own}',
  },
  // runtime
  ...RUNTIME_ERRORS,
  ...EGRESS_ERRORS,
  ...HOOK_ERRORS,
} as const satisfies Record<string, ErrorText>

export type ErrorCode = keyof typeof ERRORS
