// Protected names of version control, and of Cordon itself.
import { readEntries } from './entry.js'

export const REPOSITORY_NAMES = readEntries(`
anywhere .git/hooks: git runs hooks on commit, checkout, merge and push <https://git-scm.com/docs/githooks>
anywhere .git/config .git/config.worktree:
  git runs programs that its configuration names (core.fsmonitor, core.pager, filters, aliases)
  <https://git-scm.com/docs/git-config>
anywhere .git/commondir:
  it redirects git to the configuration and hooks of another folder <https://git-scm.com/docs/gitrepository-layout>
anywhere .git/modules: it holds the configuration and hooks of submodules <https://git-scm.com/docs/gitsubmodules>
anywhere .git/worktrees: it holds the configuration of linked worktrees <https://git-scm.com/docs/git-worktree>
file .git:
  as a file or link it redirects git to another repository, with its own hooks
  <https://git-scm.com/docs/gitrepository-layout>
anywhere .gitconfig .config/git:
  git reads it as the configuration of the user <https://git-scm.com/docs/git-config#FILES>
anywhere .husky .githooks .lefthook:
  git is pointed at these scripts by core.hooksPath, or a hook runs what they say
  <https://git-scm.com/docs/git-config#Documentation/git-config.txt-corehooksPath>
root lefthook.yml .lefthook.yml lefthook.yaml .lefthook.yaml lefthook.toml .lefthook.toml lefthook.json .lefthook.json
  lefthook-local.yml .lefthook-local.yml:
  a git hook runs the commands that it lists (lefthook) <https://lefthook.dev/configuration/>
root .pre-commit-config.yaml .pre-commit-config.yml prek.toml:
  a git hook runs the programs that it lists (pre-commit, prek) <https://pre-commit.com/>
root .overcommit.yml: a git hook runs what it says (overcommit) <https://github.com/sds/overcommit>
root captainhook.json grumphp.yml:
  a git hook runs the actions that it lists (CaptainHook, GrumPHP) <https://docs.captainhook.info/configuration.html>
root .lintstagedrc .lintstagedrc.json .lintstagedrc.yaml .lintstagedrc.yml .lintstagedrc.js .lintstagedrc.mjs
  .lintstagedrc.cjs .lintstagedrc.ts .lintstagedrc.mts .lintstagedrc.cts lint-staged.config.js lint-staged.config.mjs
  lint-staged.config.cjs lint-staged.config.ts lint-staged.config.mts lint-staged.config.cts:
  a git hook runs the commands that it lists for staged files (lint-staged)
  <https://github.com/lint-staged/lint-staged#configuration>
root .commitlintrc .commitlintrc.json .commitlintrc.yaml .commitlintrc.yml .commitlintrc.js .commitlintrc.mjs
  .commitlintrc.cjs .commitlintrc.ts .commitlintrc.mts .commitlintrc.cts commitlint.config.js commitlint.config.mjs
  commitlint.config.cjs commitlint.config.ts commitlint.config.mts commitlint.config.cts:
  a git hook loads it, or the code that it extends, for every commit message (commitlint)
  <https://commitlint.js.org/reference/configuration.html>
anywhere .hg/hgrc .hg/hgrc-not-shared .hgrc .config/hg:
  mercurial runs hooks and extensions that it names <https://www.mercurial-scm.org/help/topics/config>
anywhere .hg/sharedpath:
  it redirects mercurial to another repository, with its own configuration
  <https://www.mercurial-scm.org/help/extensions/share>
anywhere .sl/config: sapling runs hooks and extensions that it names <https://sapling-scm.com/docs/commands/config/>
anywhere .jj/repo/config.toml .jj/workspace-config.toml .jjconfig.toml .config/jj:
  jujutsu runs editors, pagers, merge and fix tools that it names <https://docs.jj-vcs.dev/latest/config/>
anywhere .subversion/config .subversion/servers:
  subversion runs the editors, diff programs and tunnels that it names
  <https://svnbook.red-bean.com/en/1.8/svn.advanced.confarea.html>
anywhere .cordon .config/cordon: it holds the policies and rules of later calls <docs/decisions-and-rules.md>
anywhere .local/state/cordon: it holds the record of calls and the approvals of sessions <docs/audit.md>
`)
