// Protected names of version control, and of Cordon itself.
import { anywhere, inRoot } from './entry.js'
import type { ProtectedName } from './entry.js'

const GIT = 'https://git-scm.com/docs'

const LINT_STAGED = ['', '.json', '.yaml', '.yml', '.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']
const MODULES = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts']

export const REPOSITORY_NAMES: readonly ProtectedName[] = [
  ...anywhere('git runs hooks on commit, checkout, merge and push', `${GIT}/githooks`, '.git/hooks'),
  ...anywhere(
    'git runs programs that its configuration names (core.fsmonitor, core.pager, filters, aliases)',
    `${GIT}/git-config`,
    '.git/config .git/config.worktree',
  ),
  ...anywhere(
    'it redirects git to the configuration and hooks of another folder',
    `${GIT}/gitrepository-layout`,
    '.git/commondir',
  ),
  ...anywhere('it holds the configuration and hooks of submodules', `${GIT}/gitsubmodules`, '.git/modules'),
  ...anywhere('it holds the configuration of linked worktrees', `${GIT}/git-worktree`, '.git/worktrees'),
  {
    name: '.git',
    scope: 'anywhere',
    object: 'file',
    because: 'as a file or link it redirects git to another repository, with its own hooks',
    source: `${GIT}/gitrepository-layout`,
  },
  ...anywhere('git reads it as the configuration of the user', `${GIT}/git-config#FILES`, '.gitconfig .config/git'),
  ...anywhere(
    'git is pointed at these scripts by core.hooksPath, or a hook runs what they say',
    `${GIT}/git-config#Documentation/git-config.txt-corehooksPath`,
    '.husky .githooks .lefthook',
  ),
  ...inRoot(
    'a git hook runs the commands that it lists (lefthook)',
    'https://lefthook.dev/configuration/',
    ...['yml', 'yaml', 'toml', 'json'].flatMap((form) => [`lefthook.${form}`, `.lefthook.${form}`]),
    'lefthook-local.yml .lefthook-local.yml',
  ),
  ...inRoot(
    'a git hook runs the programs that it lists (pre-commit, prek)',
    'https://pre-commit.com/',
    '.pre-commit-config.yaml .pre-commit-config.yml prek.toml',
  ),
  ...inRoot('a git hook runs what it says (overcommit)', 'https://github.com/sds/overcommit', '.overcommit.yml'),
  ...inRoot(
    'a git hook runs the actions that it lists (CaptainHook, GrumPHP)',
    'https://docs.captainhook.info/configuration.html',
    'captainhook.json grumphp.yml',
  ),
  ...inRoot(
    'a git hook runs the commands that it lists for staged files (lint-staged)',
    'https://github.com/lint-staged/lint-staged#configuration',
    ...LINT_STAGED.map((form) => `.lintstagedrc${form}`),
    ...MODULES.map((form) => `lint-staged.config.${form}`),
  ),
  ...inRoot(
    'a git hook loads it, or the code that it extends, for every commit message (commitlint)',
    'https://commitlint.js.org/reference/configuration.html',
    ...LINT_STAGED.map((form) => `.commitlintrc${form}`),
    ...MODULES.map((form) => `commitlint.config.${form}`),
  ),

  ...anywhere(
    'mercurial runs hooks and extensions that it names',
    'https://www.mercurial-scm.org/help/topics/config',
    '.hg/hgrc .hg/hgrc-not-shared .hgrc .config/hg',
  ),
  ...anywhere(
    'it redirects mercurial to another repository, with its own configuration',
    'https://www.mercurial-scm.org/help/extensions/share',
    '.hg/sharedpath',
  ),
  ...anywhere(
    'sapling runs hooks and extensions that it names',
    'https://sapling-scm.com/docs/commands/config/',
    '.sl/config',
  ),
  ...anywhere(
    'jujutsu runs editors, pagers, merge and fix tools that it names',
    'https://docs.jj-vcs.dev/latest/config/',
    '.jj/repo/config.toml .jj/workspace-config.toml .jjconfig.toml .config/jj',
  ),
  ...anywhere(
    'subversion runs the editors, diff programs and tunnels that it names',
    'https://svnbook.red-bean.com/en/1.8/svn.advanced.confarea.html',
    '.subversion/config .subversion/servers',
  ),

  ...anywhere(
    'it holds the policies and rules of later calls',
    'docs/decisions-and-rules.md',
    '.cordon .config/cordon',
  ),
  ...anywhere('it holds the record of calls and the approvals of sessions', 'docs/audit.md', '.local/state/cordon'),
]
