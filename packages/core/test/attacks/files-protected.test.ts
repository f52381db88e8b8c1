import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { PROTECTED_NAMES } from '../../src/policy/index.js'
import { IN_MATRIX } from '../../../../test/turns.js'

import { IS_ROOT, mustRun } from './harness.js'
import type { Cell } from './harness.js'
import { playground, snapshot } from './playground.js'
import { describeCells } from './walled.js'

/** What a user would do next. The ambushes write to $MARK, which only the host's git has in its environment. */
const useGit = (cwd: string, mark: string): void => {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: cwd,
    MARK: mark,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  }
  for (const args of [['status'], ['commit', '-q', '--allow-empty', '-m', 'x']]) {
    spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
      cwd,
      env,
      stdio: 'ignore',
    })
  }
}

const repository = (at: string): string => {
  mkdirSync(at, { recursive: true })
  execFileSync('git', ['init', '-q', at])
  return at
}

const NAMES = PROTECTED_NAMES.filter(({ object }) => object === 'any').map(({ name }) => name)
const FOLDERS = new Set([
  '.git/hooks',
  '.cordon',
  '.venv',
  '.vscode',
  '.husky',
  '.ssh',
  '.idea',
  '.claude',
  '.config/fish',
])

/** Every way of changing each of them that needs no other program. */
const CHANGE_ALL = `import json, os
def tried(act, *words):
    try: act(*words)
    except OSError: pass
for entry in json.load(open('objects.json')):
    tried(lambda path: open(path, 'w').write('planted'), entry['path'])
    tried(os.truncate, entry['path'], 0); tried(os.unlink, entry['path'])
    tried(os.rename, entry['name'], 'gone'); tried(os.chmod, entry['path'], 0o777)
`

const REASONS = new Map(
  PROTECTED_NAMES.filter(({ object }) => object === 'any').map(({ because, name }) => [because, name]),
)
const ONE_OF_EACH = [...REASONS.values()]
const KINDS = [
  { kinds: 'every eighth kind', names: ONE_OF_EACH.filter((_, at) => at % 8 === 0), options: {} },
  { kinds: 'every kind', names: ONE_OF_EACH, options: IN_MATRIX },
]

const GIT = `git -c user.name=t -c user.email=t@example.invalid -c safe.directory='*'`

/**
 * Runs a script in a cell that may write the workspace. Only the fallback may refuse the whole call, where it cannot
 * hold a boundary.
 */
const work = async (
  cell: Cell,
  workspace: string,
  script: string,
  write: readonly string[] = [workspace],
): ReturnType<Cell['call']> => {
  const call = await cell.call(['/bin/sh', '-c', script], {
    policy: { filesystem: { write } },
    workspace,
    cwd: workspace,
  })
  return cell.form === 'namespaces' ? mustRun(call) : call
}

const PLANT = `printf '#!/bin/sh\\ntouch "$MARK"\\n'`
const AMBUSHES: Readonly<Record<string, string>> = {
  'a hook': `${PLANT} > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
  'a hook in a .git that replaced the old one': `mv .git old; cp -r old .git; ${PLANT} > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
  'a .git file that leads elsewhere':
    `mv .git elsewhere; ${PLANT} > elsewhere/hooks/pre-commit; chmod +x elsewhere/hooks/pre-commit; echo ` +
    '"gitdir: elsewhere" > .git',
  'a copy of .git and a .git file that leads to it':
    `cp -r .git elsewhere; ${PLANT} > elsewhere/hooks/pre-commit; chmod +x elsewhere/hooks/pre-commit; rm ` +
    '-rf .git; echo "gitdir: elsewhere" > .git',
  'core.fsmonitor': `${PLANT} > run.sh; chmod +x run.sh; git config core.fsmonitor "$PWD/run.sh"`,
  'core.hooksPath':
    `mkdir h; ${PLANT} > h/pre-commit; chmod +x h/pre-commit; printf '[core]\\n\\thooksPath = h\\n' >> ` +
    '.git/config',
  'an include of .git/config':
    `printf '[core]\\n\\thooksPath = h\\n' > .git/extra; git config include.path extra; mkdir h; ${PLANT} > ` +
    'h/pre-commit; chmod +x h/pre-commit',
  'a commondir':
    `cp -r .git elsewhere; ${PLANT} > elsewhere/hooks/pre-commit; chmod +x elsewhere/hooks/pre-commit; echo ` +
    '"$PWD/elsewhere" > .git/commondir',
  'a hooks folder that is a symlink': `rm -rf .git/hooks; mkdir h; ${PLANT} > h/pre-commit; chmod +x h/pre-commit; ln -s ../h .git/hooks`,
  'a hook put there by git itself':
    `mkdir t; mkdir t/hooks; ${PLANT} > t/hooks/pre-commit; chmod +x t/hooks/pre-commit; git init -q ` +
    '--template=t .',
}

test('the planted programs run without Cordon', () => {
  for (const [name, script] of Object.entries(AMBUSHES)) {
    const { inside, root } = playground()
    repository(inside)
    const mark = join(root, 'mark')
    spawnSync('/bin/sh', ['-c', script], {
      cwd: inside,
      env: { PATH: process.env['PATH'] ?? '', HOME: inside },
      stdio: 'ignore',
    })
    useGit(inside, mark)
    expect(existsSync(mark), name).toBe(true)
  }
})

describeCells('protected names in a write root', (cell) => {
  test('cannot be changed if they exist', async () => {
    const { file, inside } = playground()
    const objects = NAMES.map((name) => ({
      name,
      path: FOLDERS.has(name) ? file(`inside/${name}/entry`, 'original\n') : file(`inside/${name}`, 'original\n'),
    }))
    const before = objects.map(({ path }) => snapshot(path).join())
    const script = join(inside, 'change.py')
    file('inside/change.py', CHANGE_ALL)
    file('inside/objects.json', JSON.stringify(objects))
    await work(cell, inside, `/usr/bin/python3 '${script}'`)
    expect(objects.filter(({ path }, at) => snapshot(path).join() !== before[at]).map(({ name }) => name)).toEqual([])
  })

  for (const { kinds, names, options } of KINDS)
    test(`cannot be left behind if they did not exist, for ${kinds} of name`, options, async () => {
      const left: string[] = []
      for (const name of names) {
        const { inside } = playground()
        await work(cell, inside, `mkdir -p "$(dirname '${name}')"; echo planted > '${name}'; true`)
        if (existsSync(join(inside, name))) left.push(name)
      }
      expect(left).toEqual([])
    })

  test('can be read, and everything else can be changed', async () => {
    const { file, inside } = playground()
    file('inside/.bashrc', 'original\n')
    file('inside/src/main.c', 'original\n')
    const call = await work(cell, inside, 'cat .bashrc; echo new > src/main.c; echo new > src/other.c')
    expect(call).toMatchObject({ kind: 'ran', stdout: 'original\n' })
    expect(readFileSync(join(inside, 'src/main.c'), 'utf8')).toBe('new\n')
    expect(readFileSync(join(inside, 'src/other.c'), 'utf8')).toBe('new\n')
  })

  test('may come deeper in the tree with packages and clones', async () => {
    const { inside } = playground()
    const call = await work(
      cell,
      inside,
      [
        'mkdir -p node_modules/a/tools clone/.github/hooks clone/.vscode scaffold/venv/lib locales',
        'echo x > node_modules/a/.npmrc; echo x > node_modules/a/pnpm-workspace.yaml; echo x > ' +
          'node_modules/a/sitecustomize.py; echo x > node_modules/a/tools/bazel',
        'for name in .tool-versions rust-toolchain.toml composer.json package.json global.json .lintstagedrc ' +
          '.bazelrc ansible.cfg .github/hooks/a.json .vscode/tasks.json; do echo x > clone/$name; done',
        'echo x > scaffold/venv/lib/a.pth; echo x > scaffold/pnpm-workspace.yaml; echo x > ' +
          'locales/global.json; echo done',
      ].join('\n'),
    )
    expect(call).toMatchObject({ kind: 'ran', stdout: 'done\n', result: { violations: [] } })
    expect(existsSync(join(inside, 'clone/.github/hooks/a.json'))).toBe(true)
  })

  test('can be changed if the policy names them', async () => {
    const { file, inside } = playground()
    const named = file('inside/.bashrc', 'original\n')
    await work(cell, inside, 'echo new > .bashrc', [inside, named])
    expect(readFileSync(named, 'utf8')).toBe('new\n')
  })

  test('are reported when they were renamed', async () => {
    const { inside } = playground()
    const call = await work(
      cell,
      inside,
      'echo planted > .bashrc; mkdir -p new/.git/hooks; echo planted > new/.git/hooks/pre-commit; true',
    )
    expect(existsSync(join(inside, '.bashrc'))).toBe(false)
    expect(existsSync(join(inside, 'new/.git/hooks/pre-commit'))).toBe(false)
    // Where nothing could be made in the first place there is nothing to report.
    if (call.kind === 'ran' && call.stderr === '')
      expect(call.result.violations.map(({ kind }) => kind)).toContain('protected')
  })

  test.each(Object.keys(AMBUSHES))("cannot make the user's next git command run a program: %s", async (name) => {
    const { inside, root } = playground()
    repository(inside)
    const mark = join(root, 'mark')
    await work(cell, inside, `${AMBUSHES[name] ?? ''}; true`)
    useGit(inside, mark)
    expect(existsSync(mark)).toBe(false)
  })

  test('protect a repository deep in the write root', async () => {
    const { inside } = playground()
    const deep = repository(join(inside, 'a/b/c/d/repo'))
    const before = snapshot(join(deep, '.git'))
    await work(
      cell,
      inside,
      'cd a/b/c/d/repo; echo x > .git/config; echo x > .git/hooks/pre-commit; mv .git/hooks .git/h; cd ' +
        '../../..; mv c e; mkdir -p c/d/repo/.git/hooks; true',
    )
    expect(snapshot(join(deep, '.git'))).toEqual(before)
  })

  test('protect a repository behind a folder closed to its own user', async ({ skip }) => {
    if (IS_ROOT) skip('root reads closed folders')
    const { folder, inside } = playground()
    const hidden = repository(join(folder('inside/closed'), 'repo'))
    const before = snapshot(join(hidden, '.git'))
    chmodSync(join(inside, 'closed'), 0o000)
    const call = await work(cell, inside, 'chmod 700 closed; echo x > closed/repo/.git/config; true')
    chmodSync(join(inside, 'closed'), 0o700)
    if (call.kind === 'ran') expect(snapshot(join(hidden, '.git'))).toEqual(before)
  })

  test('leave git usable: a commit in the workspace works', async ({ skip }) => {
    if (cell.form === 'landlock')
      skip('Landlock cannot let a tool make files in .git and keep .git/hooks from it; reading commands work')
    const { file, inside } = playground()
    repository(inside)
    file('inside/a.txt', 'a\n')
    const call = await work(
      cell,
      inside,
      `${GIT} add a.txt && ${GIT} commit -q -m inside && ${GIT} log --oneline | wc -l`,
    )
    expect(call).toMatchObject({ kind: 'ran', stdout: '1\n' })
  })

  test('leave git readable: a status of the workspace works', async () => {
    const { file, inside } = playground()
    repository(inside)
    file('inside/a.txt', 'a\n')
    expect(await work(cell, inside, `${GIT} status --short`)).toMatchObject({ kind: 'ran', stdout: '?? a.txt\n' })
  })
})
