// Names that stay read-only inside every write root unless the policy names them. A name is listed when all of this is
// true:
//
// 1. A program outside of the cell executes it, or takes a command, a program, a hook, a key or a place of code from
//    it.
// 2. The program finds it by its name and place: on `cd`, at login, on opening the folder, on the next git, npm or
//    agent command.
// 3. The person who starts that program does not mean to run code of this folder.
//
// So source code and build files (Makefile, build.rs, pyproject.toml, settings of linters) are not listed: write grants
// are for changing them, and the person who builds knows that they run. Two manifests are listed, because their scripts
// run when somebody only installs dependencies. docs/protected-names.md has more about names that are not listed.
import { CLIENT_NAMES } from './clients.js'
import { AGENT_FILE_NAMES, EDITOR_NAMES } from './editors.js'
import type { ProtectedName } from './entry.js'
import { PACKAGE_NAMES } from './packages.js'
import { REPOSITORY_NAMES } from './repositories.js'
import { SESSION_NAMES } from './sessions.js'

export type { ProtectedName } from './entry.js'

/** By the kind of program that runs or obeys them. */
export const PROTECTED_FAMILIES: Readonly<Record<string, readonly ProtectedName[]>> = {
  'version control, and Cordon itself': REPOSITORY_NAMES,
  'shells, logins and desktop sessions': SESSION_NAMES,
  'editors': EDITOR_NAMES,
  'agents': AGENT_FILE_NAMES,
  'package managers, build tools and interpreters': PACKAGE_NAMES,
  'clients of other machines': CLIENT_NAMES,
}

export const PROTECTED_NAMES: readonly ProtectedName[] = Object.values(PROTECTED_FAMILIES).flat()
