// Names that stay read-only inside every write root unless the policy names them itself. A name is listed when all of
// this holds:
//
// 1. A program outside of the cell executes it, or takes from it a command, a program, a hook, a key, or a place to
//    load code from.
// 2. The program finds it by its name and place, without being told of it: on `cd`, at login, on opening the folder, on
//    the next git, npm or agent command.
// 3. The person who starts that program did not mean to run what lies in this folder.
//
// So source code is not listed, nor what describes how to build or check it (Makefile, build.rs, pyproject.toml, the
// settings of linters): that it is changed is what a write grant is for, and whoever builds it knows. Nor is a file
// that adds nothing to such a file beside it. Two manifests are listed although they describe a project: they are data,
// and their scripts run when somebody only installs dependencies. docs/protected-names.md has more of what is left out.
import { CLIENT_NAMES } from './clients.js'
import { AGENT_NAMES, EDITOR_NAMES } from './editors.js'
import type { ProtectedName } from './entry.js'
import { PACKAGE_NAMES } from './packages.js'
import { REPOSITORY_NAMES } from './repositories.js'
import { SESSION_NAMES } from './sessions.js'

export type { ProtectedName } from './entry.js'

/** By who runs or obeys them. */
export const PROTECTED_FAMILIES: Readonly<Record<string, readonly ProtectedName[]>> = {
  'version control, and Cordon itself': REPOSITORY_NAMES,
  'shells, logins and desktop sessions': SESSION_NAMES,
  'editors': EDITOR_NAMES,
  'agents': AGENT_NAMES,
  'package managers, build tools and interpreters': PACKAGE_NAMES,
  'clients of other machines': CLIENT_NAMES,
}

export const PROTECTED_NAMES: readonly ProtectedName[] = Object.values(PROTECTED_FAMILIES).flat()
