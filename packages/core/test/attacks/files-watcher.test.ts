// Attacks on the watcher: links, closed folders, and many files at once.
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join, relative } from 'node:path'

import { expect, test } from 'vitest'

import { IS_ROOT, describeForms, inMainCells, mustRun } from './harness.js'
import type { Cell } from './harness.js'
import { playground } from './playground.js'

const work = async (cell: Cell, workspace: string, argv: readonly string[]): ReturnType<Cell['call']> =>
  cell.call(argv, { policy: { filesystem: { write: [workspace] } }, workspace, cwd: workspace })

const shell = async (cell: Cell, workspace: string, script: string) => work(cell, workspace, ['/bin/sh', '-c', script])
const python = async (cell: Cell, workspace: string, script: string) =>
  work(cell, workspace, ['/usr/bin/python3', '-c', script])

const PLANT = 'mkdir -p .git/hooks; echo "#!/bin/sh" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit'

/** Hooks that git would run, anywhere beneath. */
const liveHooks = (folder: string): readonly string[] => {
  const listing = execFileSync('find', [folder, '-path', '*/.git/hooks/pre-commit', '-not', '-path', '*set-aside*'], {
    encoding: 'utf8',
  })
  return listing.split('\n').filter((line) => line !== '')
}

describeForms('a tool beside protected links', (cell) => {
  test('cannot remove or redirect one', async () => {
    for (const script of ['rm .envrc', 'rm .envrc; ln -s evil .envrc', 'echo evil > new; mv new .envrc']) {
      const { file, inside } = playground()
      file('inside/shared/envrc', 'original\n')
      symlinkSync('shared/envrc', join(inside, '.envrc'))
      await shell(cell, inside, `${script}; true`)
      expect(readlinkSync(join(inside, '.envrc')), script).toBe('shared/envrc')
    }
  })

  test('cannot change the target of one', async () => {
    const { file, inside } = playground()
    const target = file('inside/shared/envrc', 'original\n')
    symlinkSync('shared/envrc', join(inside, '.envrc'))
    await shell(
      cell,
      inside,
      'echo evil > shared/envrc; rm -f shared/envrc; echo evil > shared/envrc; mv shared gone; mkdir shared; ' +
        'echo evil > shared/envrc; true',
    )
    expect(readFileSync(target, 'utf8')).toBe('original\n')
  })

  test('cannot change a folder of hooks that one leads to', async () => {
    const { inside, folder } = playground()
    execFileSync('git', ['init', '-q', '--template=', inside])
    folder('inside/hooks')
    symlinkSync('../hooks', join(inside, '.git/hooks'))
    await shell(
      cell,
      inside,
      'echo evil > hooks/pre-commit; mv hooks h; mkdir hooks; echo evil > hooks/pre-commit; true',
    )
    expect(existsSync(join(inside, 'hooks/pre-commit'))).toBe(false)
  })

  test('cannot create the missing target of one', async () => {
    const { inside, folder } = playground()
    folder('inside/shared')
    symlinkSync('shared/envrc', join(inside, '.envrc'))
    await shell(cell, inside, 'echo evil > shared/envrc; true')
    expect(existsSync(join(inside, '.envrc'))).toBe(false)
  })

  test('cannot redirect a second link on the way', async () => {
    for (const script of [
      'rm cur; ln -s evil cur',
      'ln -sfn evil cur',
      'mv cur old; ln -s evil cur',
      'mv evil cur2; ln -sfn ../evil v1/deep; rm cur',
    ]) {
      const { file, inside } = playground()
      file('inside/v1/deep/envrc', 'original\n')
      file('inside/evil/deep/envrc', 'evil\n')
      symlinkSync('v1', join(inside, 'cur'))
      symlinkSync('cur/deep/envrc', join(inside, '.envrc'))
      await shell(cell, inside, `${script}; true`)
      expect(readFileSync(join(inside, '.envrc'), 'utf8'), script).toBe('original\n')
    }
  })

  test('cannot create a missing target behind a second link', async () => {
    const { inside, folder } = playground()
    folder('inside/v1')
    symlinkSync('v1', join(inside, 'cur'))
    symlinkSync('cur/envrc', join(inside, '.envrc'))
    await shell(cell, inside, 'echo evil > v1/envrc; true')
    expect(existsSync(join(inside, '.envrc'))).toBe(false)
  })

  test('cannot change the content of a folder that is one', async () => {
    const { file, inside } = playground()
    const fish = file('inside/dotfiles/fish/config.fish', 'original\n')
    symlinkSync('dotfiles', join(inside, '.config'))
    await shell(
      cell,
      inside,
      'echo evil > dotfiles/fish/config.fish; echo evil > .config/fish/config.fish; mkdir ' +
        'dotfiles/autostart; echo evil > dotfiles/autostart/x.desktop; true',
    )
    expect(readFileSync(fish, 'utf8')).toBe('original\n')
    expect(existsSync(join(inside, '.config/autostart/x.desktop'))).toBe(false)
  })

  test('cannot turn a folder into one', async () => {
    const { inside } = playground()
    await shell(
      cell,
      inside,
      'mkdir -p dotfiles/fish; echo evil > dotfiles/fish/config.fish; ln -s dotfiles .config; sleep 0.2; true',
    )
    expect(existsSync(join(inside, '.config'))).toBe(false)
  })

  test('can have a folder of that name, and change other files behind a link', async () => {
    const { inside, folder } = playground()
    folder('inside/dotfiles')
    symlinkSync('dotfiles', join(inside, '.config'))
    await shell(cell, inside, 'echo mine > .config/app.toml; mkdir -p sub/.config; echo mine > sub/.config/app.toml')
    expect(readFileSync(join(inside, 'dotfiles/app.toml'), 'utf8')).toBe('mine\n')
    expect(readFileSync(join(inside, 'sub/.config/app.toml'), 'utf8')).toBe('mine\n')
  })

  test('leaves them as their user changed them between calls', async () => {
    const { file, inside } = playground()
    file('inside/v1/envrc', 'one\n')
    file('inside/v2/envrc', 'two\n')
    symlinkSync('v1', join(inside, 'cur'))
    symlinkSync('cur/envrc', join(inside, '.envrc'))
    await shell(cell, inside, 'true')
    execFileSync('ln', ['-sfn', 'v2', join(inside, 'cur')])
    execFileSync('ln', ['-sfn', './cur/envrc', join(inside, '.envrc')])
    await shell(cell, inside, 'true')
    expect(readlinkSync(join(inside, 'cur'))).toBe('v2')
    expect(readlinkSync(join(inside, '.envrc'))).toBe('./cur/envrc')
  })

  test('can change the targets of other links', async () => {
    const { file, inside } = playground()
    const target = file('inside/shared/readme', 'original\n')
    symlinkSync('shared/readme', join(inside, 'README'))
    await shell(cell, inside, 'echo new > README')
    expect(readFileSync(target, 'utf8')).toBe('new\n')
  })
})

describeForms('a tool that hides from the watcher', (cell) => {
  const HIDING: Readonly<Record<string, string>> = {
    'a folder that nobody may read': 'mkdir d; cd d; PLANT; chmod 000 ../d',
    'a folder closed before and opened after':
      'mkdir d; chmod 700 d; cd d; PLANT; cd ..; chmod 000 d; sleep 0.3; chmod 700 d',
    'an old folder that nobody may read': 'cd old; PLANT; chmod 000 ../old',
    'a folder that nothing may be renamed in': 'mkdir d; cd d; PLANT; chmod 555 . .git .git/hooks',
    'a folder that is moved again and again':
      'mkdir a; (cd a; PLANT); i=0; while [ $i -lt 300 ]; do mv a b; mv b a; i=$((i + 1)); done',
    'a folder made elsewhere and moved in':
      'mkdir "$TMPDIR/x" && cd "$TMPDIR/x" && PLANT && mv "$TMPDIR/x" "$OLDPWD/d"',
    'a folder that is itself protected': 'mkdir -p s/.venv/src; cd s/.venv/src; PLANT',
    'a folder where every name to move to is taken':
      'n=$(date +%s); for t in 0 1 2 3; do for i in 0 1 2 3 4 5 6 7 8 9; do mkdir -p .git/hooks; : > ' +
      '.git/hooks/pre-commit.set-aside-by-cordon-$(printf %x $((n + t)))-$i; done; done; PLANT',
    'a folder whose name comes last': 'mkdir -p x/hooks; echo "#!/bin/sh" > x/hooks/pre-commit; mkdir d; mv x d/.git',
  }

  test.each(Object.keys(HIDING))('leaves no hook behind in %s', async (name) => {
    const { inside, folder } = playground()
    folder('inside/old')
    await shell(cell, inside, `${(HIDING[name] ?? '').replaceAll('PLANT', PLANT)}; true`)
    execFileSync('chmod', ['-R', 'u+rwX', inside])
    expect(liveHooks(inside)).toEqual([])
  })

  test('leaves nothing in a folder that was closed before the call, and keeps it closed', async ({ skip }) => {
    if (IS_ROOT) skip('root reads closed folders')
    const { inside } = playground()
    mkdirSync(join(inside, 'closed'))
    execFileSync('chmod', ['000', join(inside, 'closed')])
    await shell(cell, inside, `chmod 700 closed; cd closed && ${PLANT}; true`)
    execFileSync('chmod', ['700', join(inside, 'closed')])
    expect(readdirSync(join(inside, 'closed'))).toEqual([])
  })

  test('leaves no name of several parts by renaming the first part', async () => {
    const { inside } = playground()
    await shell(cell, inside, 'mkdir -p x/fish x/autostart; echo evil > x/fish/config.fish; mv x .config; true')
    expect(existsSync(join(inside, '.config/fish'))).toBe(false)
    expect(existsSync(join(inside, '.config/autostart'))).toBe(false)
  })

  test('cannot keep the watcher busy by moving a large tree back and forth', inMainCells(cell), async () => {
    const { inside } = playground()
    execFileSync('/usr/bin/python3', ['-c', 'import os\nfor i in range(4000): os.makedirs(f"tree/{i % 40}/{i}")'], {
      cwd: inside,
    })
    const call = await python(
      cell,
      inside,
      `
import os
for i in range(1500):
  os.rename("tree", "eert"); os.rename("eert", "tree")
os.makedirs("tree/7/7/.git/hooks")
open("tree/7/7/.git/hooks/pre-commit", "w").write("#!/bin/sh")
`,
    )
    expect(call.kind).toBe('ran')
    expect(liveHooks(inside)).toEqual([])
  })

  test('cannot hide one name among thousands', inMainCells(cell), async () => {
    const { inside } = playground()
    await python(
      cell,
      inside,
      `
import os
for i in range(1000):
  os.makedirs(f"r{i}/.git/hooks"); open(f"r{i}/.git/hooks/pre-commit", "w").close()
`,
    )
    expect(liveHooks(inside)).toEqual([])
  })

  test('can create and move thousands of its own folders', inMainCells(cell), async () => {
    const { inside } = playground()
    const call = await python(
      cell,
      inside,
      'import os\nfor i in range(2000): os.makedirs(f"a/{i}/b")\nos.rename("a", "c"); print(len(os.listdir("c")))',
    )
    expect(call).toMatchObject({ kind: 'ran', stdout: '2000\n' })
  })
})

describeForms('many write roots', (cell) => {
  /** Of every process beneath this one. */
  const watchers = (pid: number): number => {
    try {
      return watchersOf(pid)
    } catch (error) {
      // A process may end while it is looked at, and so may a thread.
      if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return 0
      throw error
    }
  }
  const watchersOf = (pid: number): number => {
    const own = readdirSync(`/proc/${String(pid)}/fd`).filter(
      (fd) => linkOf(`/proc/${String(pid)}/fd/${fd}`) === 'anon_inode:inotify',
    ).length
    const children = readdirSync(`/proc/${String(pid)}/task`).flatMap((thread) =>
      readFileSync(`/proc/${String(pid)}/task/${thread}/children`, 'utf8')
        .split(' ')
        .filter((text) => text !== ''),
    )
    return children.reduce((sum, child) => sum + watchers(Number(child)), own)
  }
  const linkOf = (path: string): string =>
    lstatSync(path, { throwIfNoEntry: false }) === undefined ? '' : readlinkSync(path)

  // Who else may not look into the launchers' processes.
  test.runIf(IS_ROOT)('in sequence do not use up the inotify watches of their user', inMainCells(cell), async () => {
    const roots = Array.from({ length: 24 }, () => playground().inside)
    for (const root of roots) mustRun(await shell(cell, root, 'true'))
    expect(watchers(process.pid)).toBeLessThan(12)
    expect(
      mustRun(await shell(cell, roots[0] ?? '', 'mkdir -p .git/hooks; touch .git/hooks/pre-commit; true')).kind,
    ).toBe('ran')
    expect(liveHooks(roots[0] ?? '')).toEqual([])
  })
})

describeForms('a write root that the watcher cannot check', (cell) => {
  // Deeper than a path can name. That there are too many folders is found out and told in the same way.
  const DEEP = 'import os\nfor i in range(20): os.mkdir("d" * 250); os.chdir("d" * 250)'

  test('is refused, with a fix', async () => {
    const { inside } = playground()
    execFileSync('/usr/bin/python3', ['-c', DEEP], { cwd: inside })
    const call = await shell(cell, inside, 'true')
    expect(call).toMatchObject({ kind: 'refused', error: { code: 'plan-rejected' } })
    expect(call.kind === 'refused' && call.error.message).toContain('grant smaller folders')
  })

  test('is reported if the tool made it so', async () => {
    const { inside } = playground()
    const call = await python(cell, inside, DEEP)
    expect(call.kind === 'ran' && call.result.violations.map(({ kind }) => kind)).toEqual(['protected'])
  })
})

describeForms('a write root that a call leaves unusable for the next', (cell) => {
  const MANY: Readonly<Record<string, readonly [script: string, policy: readonly string[]]>> = {
    'too many protected names': ['import os\nfor i in range(1001): os.makedirs(f"flood/{i}/.vscode")', []],
    'too many names that a pattern carves out': [
      'import os\nos.mkdir("flood")\nfor i in range(2001): open(f"flood/{i}.key", "w").close()',
      ['!**/*.key'],
    ],
  }

  test.each(Object.keys(MANY))(
    'by %s is reported with that call, and the refusal names the fix',
    inMainCells(cell),
    async (name) => {
      const { inside } = playground()
      const [script, carved] = MANY[name] ?? ['', []]
      const run = async (argv: readonly string[]) =>
        cell.call(argv, { policy: { filesystem: { write: [inside, ...carved] } }, workspace: inside, cwd: inside })
      const call = mustRun(await run(['/usr/bin/python3', '-c', script]))
      expect(call.result.violations).toMatchObject([{ kind: 'protected', deed: 'unusable', path: inside }])
      const next = await run(['/bin/true'])
      expect(next).toMatchObject({ kind: 'refused' })
      if (carved.length === 0) expect(next.kind === 'refused' && next.error.message).toContain(join(inside, 'flood'))
      execFileSync('rm', ['-r', join(inside, 'flood')])
      expect(mustRun(await run(['/bin/true'])).result.violations).toEqual([])
    },
  )

  test('by closing it is opened to its owner again', async () => {
    const { inside } = playground()
    await shell(cell, inside, 'chmod 000 .')
    expect(mustRun(await shell(cell, inside, 'echo made > file; cat file')).stdout).toBe('made\n')
  })

  test('is not blamed on a call that creates as much elsewhere', inMainCells(cell), async () => {
    const { inside } = playground()
    const call = await python(
      cell,
      inside,
      'import os\nfor i in range(1001): os.makedirs(f"flood/{i}/vscode")\nfor i in range(2001): ' +
        'open(f"flood/{i}.txt", "w").close()',
    )
    expect(mustRun(call).result.violations).toEqual([])
  })
})

describeForms('a tool beside files to which a repository redirects git', (cell) => {
  test('cannot change the repository that a .git file names', async () => {
    const { inside, root } = playground()
    execFileSync('git', [
      'init',
      '-q',
      '--template=',
      '--separate-git-dir',
      join(inside, 'store'),
      join(inside, 'tree'),
    ])
    mkdirSync(join(inside, 'store/hooks'))
    const before = readFileSync(join(inside, 'store/config'), 'utf8')
    await shell(
      cell,
      inside,
      'echo "[core] fsmonitor = evil" >> store/config; echo evil > store/hooks/pre-commit; mv store/hooks ' +
        'store/h; mv store s; true',
    )
    expect(readFileSync(join(inside, 'store/config'), 'utf8'), root).toBe(before)
    expect(readdirSync(join(inside, 'store/hooks'))).toEqual([])
  })

  test('cannot change the folder of core.hooksPath, or an included configuration', async () => {
    for (const value of ['scripts/hooks', './scripts/hooks/', '"scripts/hooks" ; ours']) {
      const { inside, file } = playground()
      execFileSync('git', ['init', '-q', '--template=', inside])
      file('inside/scripts/hooks/pre-commit', 'original\n')
      file('inside/shared.gitconfig', '[user]\n\tname = somebody\n')
      appendFileSync(
        join(inside, '.git/config'),
        `[Core]\n\tHooksPath = ${value}\n[include]\n\tpath = ../shared.gitconfig\n`,
      )
      await shell(
        cell,
        inside,
        'echo evil > scripts/hooks/pre-commit; echo evil > scripts/hooks/post-commit; echo evil > ' +
          'shared.gitconfig; mv scripts s; true',
      )
      expect(readdirSync(join(inside, 'scripts/hooks')), value).toEqual(['pre-commit'])
      expect(readFileSync(join(inside, 'scripts/hooks/pre-commit'), 'utf8'), value).toBe('original\n')
      expect(readFileSync(join(inside, 'shared.gitconfig'), 'utf8'), value).toContain('somebody')
    }
  })

  test('cannot change them by any other way to name them', async () => {
    const ways: Readonly<Record<string, (inside: string) => { readonly at: string; readonly root: string }>> = {
      'an included file': (inside) => {
        execFileSync('git', ['init', '-q', '--template=', inside])
        writeFileSync(join(inside, 'one.inc'), '[include]\n\tpath = two.inc\n')
        writeFileSync(join(inside, 'two.inc'), '[core]\n\thooksPath = h\n')
        execFileSync('git', ['-C', inside, 'config', 'include.path', '../one.inc'])
        return { at: join(inside, 'h'), root: inside }
      },
      'from the home folder': (inside) => {
        execFileSync('git', ['init', '-q', '--template=', inside])
        execFileSync('git', ['-C', inside, 'config', 'core.hooksPath', `~/${relative(homedir(), inside)}/h`])
        return { at: join(inside, 'h'), root: inside }
      },
      'of a linked work tree': (inside) => {
        const main = `${inside}-main`
        execFileSync('git', ['init', '-q', '--template=', main])
        execFileSync('git', [
          '-C',
          main,
          '-c',
          'user.name=x',
          '-c',
          'user.email=x',
          'commit',
          '-q',
          '--allow-empty',
          '-m',
          'x',
        ])
        execFileSync('git', ['-C', main, 'worktree', 'add', '-q', join(inside, 'tree')])
        execFileSync('git', ['-C', main, 'config', 'core.hooksPath', 'h'])
        return { at: join(inside, 'tree/h'), root: inside }
      },
      'of a part of a repository': (inside) => {
        execFileSync('git', ['init', '-q', '--template=', inside])
        mkdirSync(join(inside, 'part'))
        execFileSync('git', ['-C', inside, 'config', 'core.hooksPath', 'part/h'])
        return { at: join(inside, 'part/h'), root: join(inside, 'part') }
      },
    }
    for (const [way, prepare] of Object.entries(ways)) {
      const { at, root } = prepare(playground().inside)
      mkdirSync(at, { recursive: true })
      await shell(cell, root, `echo evil > ${at}/pre-commit; true`)
      expect(readdirSync(at), way).toEqual([])
    }
  })

  test('cannot create missing ones', async () => {
    const { inside } = playground()
    execFileSync('git', [
      'init',
      '-q',
      '--template=',
      '--separate-git-dir',
      join(inside, 'store'),
      join(inside, 'tree'),
    ])
    execFileSync('git', ['init', '-q', '--template=', join(inside, 'r')])
    execFileSync('git', ['-C', join(inside, 'r'), 'config', 'core.hooksPath', '../scripts/hooks'])
    execFileSync('git', ['-C', join(inside, 'r'), 'config', 'include.path', '../../more'])
    for (const name of ['store/hooks', 'store/config.worktree', 'scripts/hooks', 'more']) {
      await shell(
        cell,
        inside,
        name.endsWith('hooks') ? `mkdir -p ${name}; echo evil > ${name}/pre-commit; true` : `echo evil > ${name}; true`,
      )
      expect(existsSync(join(inside, name)), name).toBe(false)
    }
  })

  test('can change the files beside them', async () => {
    const { inside, file } = playground()
    execFileSync('git', ['init', '-q', '--template=', inside])
    file('inside/scripts/hooks/pre-commit', 'original\n')
    const build = file('inside/scripts/tools/build', 'original\n')
    execFileSync('git', ['-C', inside, 'config', 'core.hooksPath', 'scripts/hooks'])
    expect(mustRun(await shell(cell, inside, 'echo new > scripts/tools/build')).stderr).toBe('')
    expect(readFileSync(build, 'utf8')).toBe('new\n')
  })
})
