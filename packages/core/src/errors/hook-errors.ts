// Errors of `cordon hook` and `cordon manifest`. See table.ts.
import type { ErrorText } from './cordon-error.js'

export const HOOK_ERRORS = {
  'hook-input-unreadable': {
    when: "A coding agent's message to its hook is not one that Cordon knows. The call is blocked.",
    message: 'the message of {agent} to its hook {problem}',
    agent: 'The hook could not read this call, so it does not run.',
    fix: 'use the versions of {agent} and Cordon that docs/hooks.md names; to work without Cordon: cordon hook uninstall {agent}',
  },
  'hook-too-slow': {
    when: 'The hook of a coding agent had no decision in time. The call is blocked.',
    message: 'there was no decision within {seconds} s',
    agent: 'The hook took too long, so this call does not run.',
    fix: 'try again when the machine is less busy; another process may hold the audit log: cordon log verify',
  },
  'hook-workspace-too-wide': {
    when: 'A coding agent works in a folder that contains the home folder. Its commands could read every key in it.',
    message: 'the workspace {workspace} contains the home folder, so the preset "workspace" would grant all of it',
    agent: 'The agent was started in a folder that is too wide. Ask the user to start it in a project folder.',
    fix: 'start the agent in the folder of a project; or say what to grant: cordon hook install {agent} --preset toolchains --write DIR',
  },
  'hook-not-installed': {
    when: 'A hook is to be uninstalled from settings that have none.',
    message: 'no hook of {agent} is in {path}',
    agent: 'There is no such hook.',
    fix: '{fix}',
  },
  'hook-needs-root': {
    when: 'Hooks for all users of the machine are installed or removed by an ordinary user.',
    message: '--managed is for root: it changes {path}, which every user of this machine reads',
    agent: 'Only root can change hooks for all users.',
    fix: '{command}; or install it for yourself: --user',
  },
  'hook-settings-unwritable': {
    when: 'The settings of a coding agent cannot be changed.',
    message: 'cannot write {path}: {problem}',
    agent: 'The settings of the agent cannot be changed.',
    fix: '{fix}',
  },
  'program-copy-unwritable': {
    when: 'The copy of Cordon, from which hooks and MCP entries start, cannot be made.',
    message: 'cannot write the copy of Cordon {path}: {problem}',
    agent: 'The copy of Cordon cannot be written.',
    fix: 'make that folder writable for this user, or name another one: XDG_DATA_HOME=FOLDER',
  },
  'program-altered': {
    when: 'The files of Cordon are not as they were packed, so no copy of them is made.',
    message: 'Cordon does not copy itself, because {path} is not as it was packed: {problem}',
    agent: 'Cordon was changed on this host. Tell the user.',
    fix: 'install Cordon again (npm install cordon); in a checkout: npm run build',
  },
  'program-in-write-root': {
    when: 'A hook, a gateway or a runner was started from a folder that its tools may write.',
    message: 'Cordon runs from {path}, which the grant {grant} lets tools change',
    agent: 'Cordon was started from a place that tools could change. Tell the user.',
    fix: '{fix}',
  },
  'hook-cell-impossible': {
    when: "A coding agent would start the command in a sandbox of its own, in which Cordon's cell cannot start.",
    message: '{problem}',
    agent: 'Commands cannot run: the sandbox of this agent keeps the sandbox of Cordon from starting. Tell the user.',
    fix: '{fix}',
  },
  'manifest-invalid': {
    when: 'A file is no manifest that this version of Cordon can read.',
    message: '{problem}',
    agent: 'The manifest of this project is invalid.',
    fix: 'write it anew: cordon manifest generate',
  },
  'manifest-unreadable': {
    when: 'The file of the manifest that something is to be held against cannot be read.',
    message: 'the manifest {path} cannot be read: {problem}',
    agent: 'The manifest of this project cannot be read.',
    fix: 'name a file that exists; to write one: cordon manifest generate',
  },
  'manifest-exceeded': {
    when: 'A tool, a command or an MCP server is not within the manifest that it is held against.',
    message: '{what} is beyond the manifest {name} ({hash}): {differences}',
    agent: 'This tool may do more than was reviewed.',
    fix: '{fix}',
  },
  'manifest-key-missing': {
    when: 'A manifest has hashes of values, and the key of these hashes cannot be read.',
    message: 'the key of the manifest, {path}, cannot be read: {problem}',
    agent: 'The manifest of this project cannot be checked.',
    fix: 'copy the key from where the manifest was written; or delete the manifest, and write it anew: cordon manifest generate',
  },
  'manifest-key-unmade': {
    when: 'A project has values to hash, and no key for these hashes yet. So its findings have no lasting fingerprints.',
    message: 'the project has no key yet for the hashes of its values: there is no file {path}',
    agent: 'The manifest of this project cannot be checked.',
    fix: 'make it first: {command}',
  },
  'only-described': {
    when: 'Code of a project used its runtime while `cordon manifest` loaded it.',
    message: 'the project is only described here, so nothing runs',
    agent: 'Nothing runs here: the project is only described.',
    fix: 'move the call out of the top level of the module, into a function',
  },
} as const satisfies Readonly<Record<string, ErrorText>>
