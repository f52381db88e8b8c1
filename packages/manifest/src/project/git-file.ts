// Reads one file of a commit. Git runs in a cell that sees only the repository's own folder: a hostile configuration
// could name programs to run, but the cell can start git alone, write nothing and reach nobody.
import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

import { messageOf } from 'cordon/errors'
import type { CordonError } from 'cordon/errors'
import { textOfFile } from 'cordon/runtime'
import { ROOT_PATH, escapeGlob, parsePolicy, resolvePolicy } from 'cordon/policy'
import type { AbsolutePath } from 'cordon/policy'
import { openSandbox } from 'cordon/sandbox'

import type { Environment } from 'cordon/commands'

import { fail } from '../errors/errors.js'

export interface GitFile {
  readonly ref: string
  /** An absolute path in the work tree. */
  readonly path: AbsolutePath
  readonly home: AbsolutePath
  readonly environment: Environment
}

export const readGitFile = async (file: GitFile): Promise<string> => {
  const repository = repositoryAround(dirname(file.path))
  if (repository === undefined)
    throw unreadable(
      file,
      `${dirname(file.path)} is not in a git repository, and the name of a file ends in .json or .yaml`,
      'go to a repository, or compare with a file: --baseline FILE.json',
    )
  const name = relative(repository.workTree, file.path)
  const objects = `${file.ref}:${name}`
  const result = await runGit(file, repository, ['cat-file', 'blob', '--end-of-options', objects])
  if (result.status === 'exited' && result.exitCode === 0) return Buffer.from(result.stdout).toString('utf8')
  const isCommit = await runGit(file, repository, [
    ...['rev-parse', '--verify', '--quiet', '--end-of-options'],
    `${file.ref}^{commit}`,
  ])
  throw isCommit.status === 'exited' && isCommit.exitCode === 0
    ? unreadable(
        file,
        `${name} is not in ${file.ref}`,
        `commit it there first: cordon manifest generate; git add ${name}`,
      )
    : unreadable(
        file,
        `git does not know it: ${lastLine(result.stderr)}`,
        `fetch it first (in CI, check out with the whole history): git fetch origin; see: git rev-parse ${file.ref}`,
      )
}

interface Repository {
  readonly workTree: string
  readonly gitFolder: string
  /** Folders that git has to read. */
  readonly reads: readonly string[]
}

const repositoryAround = (folder: string): Repository | undefined => {
  const dotGit = join(folder, '.git')
  if (!existsSync(dotGit)) return dirname(folder) === folder ? undefined : repositoryAround(dirname(folder))
  // A linked work tree or a submodule names its folder in a file.
  const gitFolder = statSync(dotGit).isFile() ? resolve(folder, textIn(dotGit).replace(/^gitdir: /, '')) : dotGit
  const common = resolve(gitFolder, textIn(join(gitFolder, 'commondir')))
  // A clone with --shared or --reference has objects elsewhere.
  const alternates = textIn(join(common, 'objects', 'info', 'alternates'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => resolve(common, 'objects', line))
  return { workTree: folder, gitFolder, reads: [...new Set([gitFolder, common, ...alternates])] }
}

const textIn = (path: string): string => textOfFile(path)?.trimEnd() ?? ''

const VARIABLES = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_TERMINAL_PROMPT: '0',
} as const

const runGit = async (file: GitFile, { gitFolder, reads }: Repository, words: readonly string[]) => {
  const variables = Object.entries({ ...VARIABLES, GIT_DIR: gitFolder, HOME: '/nonexistent' })
  const policy = parsePolicy(
    {
      filesystem: { read: reads.filter((path) => existsSync(path)).map(escapeGlob), write: 'none' },
      network: 'none',
      environment: variables.map(([name, text]) => `${name}=${text}`),
      exec: ['git'],
      limits: { wall: '30s', output: '64M' },
    },
    'the question to git',
  )
  const sandbox = await openSandbox({ form: 'auto', nursery: 'none' })
  const { PATH: searchPath } = file.environment
  try {
    return await sandbox.run({
      boundary: resolvePolicy(policy, { workspace: ROOT_PATH, home: file.home, kind: 'process' }),
      cwd: ROOT_PATH,
      // Somebody else may own the folder, as in a container. The cell protects against its configuration.
      argv: ['git', '--no-pager', '-c', 'safe.directory=*', '-c', 'core.fsmonitor=false', ...words],
      form: 'auto',
      hostEnvironment: {},
      ...(searchPath === undefined ? {} : { searchPath }),
    })
  } catch (error) {
    throw unreadable(
      file,
      `git cannot run in a cell: ${messageOf(error)}`,
      `write the baseline to a file: git show ${file.ref}:FILE > baseline.json`,
    )
  } finally {
    await sandbox.close()
  }
}

const unreadable = ({ ref }: GitFile, problem: string, fix: string): CordonError =>
  fail('baseline-unreadable', { baseline: ref, problem, fix })

const lastLine = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('utf8').trim().split('\n').at(-1)?.slice(0, 200) ?? ''
