// Repositories inside repositories: Cordon renames what git would run there, and leaves everything else unchanged.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'

import { describeForms, mustRun } from './harness.js'
import type { Cell } from './harness.js'
import { playground } from './playground.js'

const shell = async (cell: Cell, workspace: string, script: string) =>
  cell.call(['/bin/sh', '-c', script], { policy: { filesystem: { write: [workspace] } }, workspace, cwd: workspace })

const intrusionsOf = (call: Awaited<ReturnType<typeof shell>>) =>
  mustRun(call).result.violations.filter(({ kind }) => kind === 'protected')

const GIT =
  'export GIT_CONFIG_NOSYSTEM=1; git() { command git -c user.name=x -c user.email=x -c ' +
  'protocol.file.allow=always "$@"; }'
// A superproject with a submodule in a folder and one in that, and a work tree beside it.
const MAKE = `${GIT}; git init -q inner && git -C inner commit -q --allow-empty -m x && git init -q lib && cd lib && git commit -q --allow-empty -m x &&
  git submodule --quiet add ../inner deps/inner && git commit -q -m inner && cd .. && git init -q top && cd top && git commit -q --allow-empty -m x &&
  git submodule --quiet add ../lib third/lib && git submodule --quiet update --init --recursive && git commit -q -m lib && git worktree add -q ../tree`

const onHost = (folder: string, ...argv: readonly string[]) =>
  spawnSync('git', ['-C', folder, ...argv], { encoding: 'utf8' })

describeForms('a repository with submodules and a work tree that a call created', (cell) => {
  test('is complete afterwards, and usable in the next call', async () => {
    const { inside } = playground()
    const call = await shell(cell, inside, MAKE)
    expect(mustRun(call).stderr).toBe('')
    expect(intrusionsOf(call)).toEqual([])
    const top = join(inside, 'top')
    expect(
      onHost(top, 'submodule', 'status', '--recursive')
        .stdout.trim()
        .split('\n')
        .map((line) => line.split(' ')[1]?.trim()),
    ).toHaveLength(2)
    for (const tree of [top, join(top, 'third/lib'), join(top, 'third/lib/deps/inner'), join(inside, 'tree')]) {
      expect(onHost(tree, 'status', '--porcelain'), tree).toMatchObject({ status: 0, stdout: '', stderr: '' })
      expect(
        onHost(tree, '-c', 'user.name=x', '-c', 'user.email=x', 'commit', '-q', '--allow-empty', '-m', 'y').status,
        tree,
      ).toBe(0)
    }
    expect(
      mustRun(
        await shell(
          cell,
          inside,
          `${GIT}; git -C top/third/lib log --oneline | wc -l; git -C tree status --porcelain | wc -l`,
        ),
      ).stdout,
    ).toBe('3\n0\n')
    // All of it is sealed now, also beside the files that git is known to read.
    const parts = ['modules/third/lib', 'modules/third/lib/modules/deps/inner', 'worktrees/tree']
    await shell(
      cell,
      inside,
      `cd top/.git; for at in ${parts.join(' ')}; do echo evil > $at/evil; echo evil > $at/config.worktree; ` +
        'echo evil >> $at/HEAD; done; true',
    )
    for (const part of parts)
      expect(
        readdirSync(join(top, '.git', part)).filter((name) => /evil|config.worktree/.test(name)),
        part,
      ).toEqual([])
  })

  const EVIL: Readonly<Record<string, string>> = {
    'a hook of a submodule':
      'echo "#!/bin/sh" > .git/modules/third/lib/hooks/post-checkout; chmod +x ' +
      '.git/modules/third/lib/hooks/post-checkout',
    'the configuration of a submodule': 'git -C third/lib config core.fsmonitor "touch RAN; false"',
    'the configuration of a submodule in a submodule':
      'git -C third/lib/deps/inner config core.fsmonitor "touch RAN; false"',
    'another work tree than the one that leads there': 'git -C third/lib config core.worktree ../../../../..',
    'the configuration of a work tree':
      'git config extensions.worktreeConfig true; git -C ../tree config --worktree core.fsmonitor "touch RAN; false"',
    'a work tree that shares another repository':
      'cp -r .git ../evil; git --git-dir=../evil config core.fsmonitor "touch RAN; false"; echo ' +
      '../../../../evil > .git/worktrees/tree/commondir',
    'a .git file that leads to a repository elsewhere':
      'cp -r .git ../evil; git --git-dir=../evil config core.fsmonitor "touch RAN; false"; mkdir ../x; echo ' +
      '"gitdir: ../evil" > ../x/.git; rm -rf third; mkdir -p third/lib; echo "gitdir: ../../../evil" > ' +
      'third/lib/.git',
    'a link in place of the repository of a submodule':
      'mv .git/modules/third/lib ../evil; ln -s ../../../../evil .git/modules/third/lib; git ' +
      '--git-dir=../evil config core.fsmonitor "touch RAN; false"',
  }

  const DIFFERENT = [
    'a hook of a submodule',
    'the configuration of a work tree',
    'a link in place of the repository of a submodule',
  ]

  for (const name of Object.keys(EVIL))
    test(`does not keep ${name}`, DIFFERENT.includes(name) ? {} : IN_MATRIX, async () => {
      const { inside, root } = playground()
      const mark = join(root, 'ran')
      const call = await shell(cell, inside, `${MAKE}; ${(EVIL[name] ?? '').replaceAll('RAN', mark)}; true`)
      expect(intrusionsOf(call).length, JSON.stringify(mustRun(call).stderr)).toBeGreaterThan(0)
      for (const tree of ['top', 'top/third/lib', 'top/third/lib/deps/inner', 'tree', 'x'])
        onHost(join(inside, tree), 'status')
      onHost(join(inside, 'top'), '-c', 'protocol.file.allow=always', 'submodule', 'update', '--init', '--recursive')
      expect(existsSync(mark)).toBe(false)
      expect(readdirSync(join(inside, 'top/.git')).includes('modules')).toBe(true)
    })
})

describeForms('a repository within a repository', (cell) => {
  test('that a call creates in the folder of an existing one keeps no hook', async () => {
    const { inside } = playground()
    execFileSync('git', ['init', '-q', join(inside, 'old')])
    await shell(
      cell,
      inside,
      'for at in old/.git/x old/.git/objects/ab old/.git/refs/heads/y; do mkdir -p $at/.git/hooks && echo ' +
        '"#!/bin/sh" > $at/.git/hooks/pre-commit; done; true',
    )
    const live = execFileSync('find', [inside, '-name', 'pre-commit'], { encoding: 'utf8' })
    expect(live).toBe('')
  })

  test('that the policy permits keeps no hook either', async () => {
    const { inside, folder } = playground()
    folder('inside/.venv/src')
    const call = await cell.call(
      [
        '/bin/sh',
        '-c',
        'mkdir -p .venv/src/x/.git/hooks && echo "#!/bin/sh" > .venv/src/x/.git/hooks/pre-commit; echo mine > .venv/own',
      ],
      {
        policy: { filesystem: { write: [inside, `${inside}/.venv/**`] } },
        workspace: inside,
        cwd: inside,
      },
    )
    expect(mustRun(call).stderr).toBe('')
    expect(execFileSync('find', [inside, '-name', 'pre-commit'], { encoding: 'utf8' })).toBe('')
    expect(existsSync(join(inside, '.venv/own'))).toBe(true)
  })

  test('a branch may have any name, also a protected one', async () => {
    const { inside } = playground()
    const call = await shell(
      cell,
      inside,
      `${GIT}; git init -q r && cd r && git commit -q --allow-empty -m x && for b in mise.toml hooks/config ` +
        'package.json; do git branch $b; done',
    )
    expect(mustRun(call).stderr).toBe('')
    expect(intrusionsOf(call)).toEqual([])
    expect(onHost(join(inside, 'r'), 'branch').stdout.trim().split('\n')).toHaveLength(4)
  })
})
