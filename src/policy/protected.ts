// Names that stay read-only inside every write root unless the policy names them itself. Each is
// something that a program outside of the cell executes, or takes orders from, without being asked:
// on `cd`, on opening the folder, on the next git, npm or agent command. Source code is not listed
// here: that it is changed is what a write grant is for, and whoever builds it knows.

export interface ProtectedName {
  /** One or more path names, joined by slashes. */
  readonly name: string
  /**
   * `anywhere`: at every depth of a write root. `project`: likewise, but not among installed
   * dependencies, where packages bring such files along and nobody opens them. `root`: directly in it.
   */
  readonly scope: 'anywhere' | 'project' | 'root'
  /** `file`: protected only where it is, or would become, something else than a directory. */
  readonly object: 'any' | 'file'
  readonly because: string
}

const anywhere = (because: string, ...names: readonly string[]): readonly ProtectedName[] =>
  names.map((name) => ({ name, scope: 'anywhere', object: 'any', because }))

const inProject = (because: string, ...names: readonly string[]): readonly ProtectedName[] =>
  names.map((name) => ({ name, scope: 'project', object: 'any', because }))

const inRoot = (because: string, ...names: readonly string[]): readonly ProtectedName[] =>
  names.map((name) => ({ name, scope: 'root', object: 'any', because }))

export const PROTECTED_NAMES: readonly ProtectedName[] = [
  // git
  ...anywhere('git runs hooks on commit, checkout, merge and push', '.git/hooks'),
  ...anywhere('git runs programs that its configuration names (core.fsmonitor, core.pager, filters, aliases)', '.git/config', '.git/config.worktree'),
  ...anywhere('it redirects git to the configuration and hooks of another folder', '.git/commondir'),
  ...anywhere('it holds the configuration and hooks of submodules', '.git/modules'),
  ...anywhere('it holds the configuration of linked worktrees', '.git/worktrees'),
  { name: '.git', scope: 'anywhere', object: 'file', because: 'as a file or link it redirects git to another repository, with its own hooks' },
  ...anywhere('git reads it as the configuration of the user', '.gitconfig', '.config/git'),
  ...anywhere('git is pointed at these scripts by core.hooksPath, or a hook runs what they say', '.husky', '.githooks', '.lefthook'),
  ...inRoot('a git hook runs what it says', 'lefthook.yml', '.lefthook.yml', '.pre-commit-config.yaml', '.overcommit.yml'),

  ...anywhere('mercurial runs hooks and extensions that it names', '.hg/hgrc', '.hgrc'),

  // Cordon itself
  ...anywhere('it holds the policies and rules of later calls', '.cordon', '.config/cordon'),
  ...anywhere('it holds the record of calls and the approvals of sessions', '.local/state/cordon'),

  // shells, sessions, remote access
  ...anywhere('bash or sh runs it', '.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.bash_completion', '.bashrc.d', '.profile'),
  ...anywhere('zsh runs it', '.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout'),
  ...anywhere('another shell runs it', '.kshrc', '.mkshrc', '.cshrc', '.tcshrc', '.login', '.logout', '.config/fish', '.config/nushell', '.config/powershell'),
  ...anywhere('it sets variables of every login, such as LD_PRELOAD', '.pam_environment', '.config/environment.d'),
  ...anywhere('the desktop session runs it', '.xinitrc', '.xprofile', '.xsession', '.xsessionrc', '.config/autostart', '.config/systemd'),
  ...anywhere('ssh takes keys and commands from it', '.ssh'),
  ...anywhere('its programs are found before those of the system', '.local/bin'),
  ...anywhere('a client of a cloud or cluster runs the programs that it names, with credentials', '.kube/config', '.aws/config'),
  ...anywhere('tmux runs it', '.tmux.conf'),
  ...anywhere('direnv and its kin run it on entering the folder', '.envrc', '.mise.toml', 'mise.toml', '.mise', '.autoenv.zsh'),

  // editors
  ...inProject('the editor runs its tasks and the programs that its settings name', '.vscode', '.idea', '.zed', '.fleet', '.vs', '.nova', '.sublime-project'),
  ...inProject('it starts containers, and programs before them', '.devcontainer', '.devcontainer.json'),
  ...inProject('vim or neovim runs it', '.vimrc', '.gvimrc', '.exrc', '.nvimrc', '.nvim.lua', '.lvimrc', '.vim', '.config/nvim'),
  ...inProject('emacs evaluates it', '.emacs', '.emacs.d', '.dir-locals.el'),

  // agents
  ...inProject(
    'an agent takes hooks, commands or permissions from it',
    ...['.claude', '.claude.json', '.codex', '.cursor', '.gemini', '.windsurf', '.continue', '.kiro', '.opencode', '.roo', '.amazonq', '.junie'],
  ),
  ...inProject('an agent starts the servers that it lists', '.mcp.json'),
  ...inRoot('an agent starts the servers and plugins that it lists', 'opencode.json', 'opencode.jsonc', '.aider.conf.yml'),

  // package managers and interpreters
  ...inProject('npm and pnpm run programs that it names (script-shell, git, node-options)', '.npmrc'),
  ...inProject('yarn runs the release and the plugins that it names', '.yarnrc', '.yarnrc.yml', '.yarn/releases', '.yarn/plugins'),
  ...inProject('pnpm or node loads it as code', '.pnpmfile.cjs', '.pnp.cjs', '.pnp.loader.mjs'),
  ...inProject('bun preloads the modules that it names', 'bunfig.toml', '.bunfig.toml'),
  ...inProject('cargo runs the wrappers and runners that it names', '.cargo/config', '.cargo/config.toml', '.cargo/env'),
  ...inProject('bundler, gem, maven or gradle loads what it names', '.bundle/config', '.gemrc', '.mvn', '.gradle/init.d'),
  ...inProject('its interpreter and start-up files run with every command of the environment', '.venv'),
  ...inProject('an interpreter or debugger runs it when started in this folder', '.gdbinit', '.lldbinit', '.Rprofile', '.irbrc', '.pryrc', '.pdbrc', '.psqlrc', '.sqliterc'),
  ...inRoot('npm, yarn and pnpm run its scripts', 'package.json'),
]
