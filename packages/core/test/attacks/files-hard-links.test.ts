// Hard links: another name of a protected file, made by the tool in an earlier call, or by its user.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, linkSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { mustRun } from './harness.js'
import type { Cell } from './harness.js'
import { playground } from './playground.js'
import { describeCells } from './walled.js'

const shell = async (cell: Cell, write: readonly string[], script: string, cwd = write[0] ?? '/') =>
  cell.call(['/bin/sh', '-c', script], { policy: { filesystem: { write } }, workspace: cwd, cwd })

const deedsOf = (call: Awaited<ReturnType<typeof shell>>) =>
  mustRun(call).result.violations.flatMap((violation) => (violation.kind === 'protected' ? [violation.deed] : []))

// As git makes it, without git: what the system's configuration is would decide whether it starts.
const REPOSITORY =
  'mkdir -p r/.git/hooks r/.git/objects r/.git/refs; echo "ref: refs/heads/main" > r/.git/HEAD; printf ' +
  '"[core]\\n\\tbare = false\\n" > r/.git/config'

/** What the host's git runs when somebody asks it for the status. */
const isRunByGit = (repository: string, mark: string): boolean => {
  spawnSync('git', ['-C', repository, 'status'], { stdio: 'ignore' })
  return existsSync(mark)
}

describeCells('a hard link to a protected file', (cell) => {
  const WAYS: Readonly<Record<string, string>> = {
    'made after the file': `${REPOSITORY}; ln r/.git/config c2`,
    'made before the name': `${REPOSITORY}; mv r/.git/config c2; ln c2 r/.git/config`,
    'whose name was moved there': `${REPOSITORY}; cp r/.git/config c2; ln c2 c3; mv c3 r/.git/config`,
    'hidden among the objects':
      `${REPOSITORY}; mkdir r/.git/objects/ab; ln r/.git/config r/.git/objects/ab/c2; ln -s ` +
      'r/.git/objects/ab/c2 c2',
    'made of a file without a name': `${REPOSITORY}; python3 -c 'import os
fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o644)
os.write(fd, b"[core]\\n")
os.unlink("r/.git/config")
for name in ("r/.git/config", "c2"): os.link(f"/proc/self/fd/{fd}", name, src_dir_fd=0)'`,
  }

  test.each(Object.keys(WAYS))('%s is reported, and useless in the next call', async (name) => {
    const { inside, root } = playground()
    const mark = join(root, 'ran')
    expect(deedsOf(await shell(cell, [inside], WAYS[name] ?? '')), 'the first call').toEqual(['separated'])
    expect(statSync(join(inside, 'r/.git/config')).nlink).toBe(1)
    const before = readFileSync(join(inside, 'r/.git/config'), 'utf8')
    await shell(
      cell,
      [inside],
      `printf "[core]\\n\\tfsmonitor = touch ${mark}; false\\n" | tee -a c2 >> r/.git/config; true`,
    )
    expect(readFileSync(join(inside, 'r/.git/config'), 'utf8')).toBe(before)
    expect(isRunByGit(join(inside, 'r'), mark)).toBe(false)
  })

  test('cannot be written by a call whose write root contains only the other name', async () => {
    const { inside, folder } = playground()
    folder('inside/part')
    await shell(
      cell,
      [inside],
      `${REPOSITORY}; ln r/.git/config part/c2; mkdir -p deep/.vscode; echo '{}' > deep/.vscode/tasks.json; ` +
        'ln deep/.vscode/tasks.json part/c3',
    )
    await shell(cell, [join(inside, 'part')], 'echo evil >> c2; echo evil >> c3')
    expect(readFileSync(join(inside, 'part/c2'), 'utf8')).toContain('evil')
    expect(readFileSync(join(inside, 'r/.git/config'), 'utf8')).not.toContain('evil')
    expect(readFileSync(join(inside, 'deep/.vscode/tasks.json'), 'utf8')).not.toContain('evil')
  })

  test('cannot be written through a link from a call that was permitted the name', async () => {
    const { inside, outside, file } = playground()
    const manifest = file('inside/package.json', '{}\n')
    expect(
      deedsOf(
        await shell(
          cell,
          [inside, outside, manifest],
          `echo '{ }' > package.json; ln package.json ${outside}/c2 || ln package.json c2; true`,
          inside,
        ),
      ),
    ).toEqual(['separated'])
    await shell(cell, [inside, outside], `echo evil >> c2; echo evil >> ${outside}/c2; true`, inside)
    expect(readFileSync(manifest, 'utf8')).not.toContain('evil')
  })

  test('cannot be written through a link that its user made', async () => {
    const { inside, outside, file } = playground()
    const names = ['.envrc', 'package.json', '.vscode/tasks.json', 'deep/.husky/pre-commit'].map((name) =>
      file(`inside/${name}`, 'original\n'),
    )
    file('inside/src/main.c', 'original\n')
    names.forEach((path, at) => {
      linkSync(path, join(at === 2 ? outside : join(inside, 'src'), `c${String(at)}`))
    })
    const script = `for c in src/c0 src/c1 ${outside}/c2 src/c3; do echo evil >> $c; rm -f $c; mv $c x; done; mv src s; true`
    await shell(cell, [inside, outside], script, inside)
    await shell(cell, [inside, outside], script, inside)
    for (const path of names) expect(readFileSync(path, 'utf8'), path).toBe('original\n')
  })

  test('cannot be written through a single granted file', async () => {
    const { inside, outside, file } = playground()
    const rc = file('inside/.envrc', 'original\n')
    linkSync(rc, join(outside, 'notes'))
    await shell(cell, [inside, join(outside, 'notes')], `echo evil >> ${outside}/notes; true`, inside)
    expect(readFileSync(rc, 'utf8')).toBe('original\n')
  })

  test('cannot be made to a sealed file', async () => {
    const { inside, file } = playground()
    const rc = file('inside/.envrc', 'original\n')
    file('inside/src/main.c', 'original\n')
    await shell(
      cell,
      [inside],
      'ln .envrc src/c2; ln -L .envrc c2; python3 -c \'import os; os.link(f"/proc/self/fd/{os.open(".envrc", ' +
        'os.O_RDONLY)}", "src/c3", src_dir_fd=0)\'; for c in c2 src/c2 src/c3; do echo evil >> $c; done; true',
    )
    expect(readFileSync(rc, 'utf8')).toBe('original\n')
    expect(statSync(rc).nlink).toBe(1)
  })

  test.each([
    'data/objects/ab/0123456789abcdef0123456789abcdef012345',
    'data/objects/pack/pack-x',
    '.git/objects/ab/0123456789abcdef0123456789abcdef012345',
  ])('cannot be written under the name of a git object, %s', async (object) => {
    const { inside, folder } = playground()
    const hook = join(folder('inside/.git/hooks'), 'pre-commit')
    folder('inside/.git/objects')
    await shell(cell, [inside], `mkdir -p $(dirname ${object}); echo original > hook.sh; ln hook.sh ${object}`)
    renameSync(join(inside, 'hook.sh'), hook)
    // A process with the mark of an inner cell is left to Landlock by the keeper.
    const call = await shell(
      cell,
      [inside],
      `echo evil >> ${object}; bash -c 'ulimit -x 7; echo evil >> ${object}'; echo fine > $(dirname ` +
        `${object})/other && echo made`,
    )
    expect(readFileSync(hook, 'utf8')).toBe('original\n')
    expect(mustRun(call).stdout).toBe('made\n')
  })

  test('cannot outlast the call that was permitted the file, also if another name was removed', async () => {
    const { inside, file, folder } = playground()
    const [rc, unrelated] = [file('inside/.bashrc', 'original\n'), file('inside/.envrc', 'original\n')]
    linkSync(rc, join(folder('inside/dot'), 'linked'))
    linkSync(unrelated, join(inside, 'dot/envrc'))
    const call = await shell(cell, [inside, rc, unrelated], 'rm dot/linked; ln .bashrc dot/evil', inside)
    expect(deedsOf(call)).toEqual(['separated'])
    await shell(cell, [join(inside, 'dot')], 'echo evil >> evil')
    expect(readFileSync(rc, 'utf8')).toBe('original\n')
    expect(statSync(unrelated).nlink, 'what its user linked').toBe(2)
  })

  test('cannot outlast the call that was permitted its folder', async () => {
    const { inside, file, folder } = playground()
    const [hook, tasks] = [file('inside/.git/hooks/pre-commit', 'original\n'), join(inside, '.vscode/tasks.json')]
    folder('inside/sub')
    const script =
      'mkdir .vscode; echo original > .vscode/tasks.json; ln .vscode/tasks.json sub/tasks; ln ' +
      '.git/hooks/pre-commit sub/hook; echo new > .git/hooks/post-commit'
    expect(
      deedsOf(await shell(cell, [inside, join(inside, '.git/hooks'), join(inside, '.vscode')], script, inside)),
    ).toContain('separated')
    await shell(cell, [join(inside, 'sub')], 'echo evil >> tasks; echo evil >> hook')
    for (const path of [hook, tasks]) expect(readFileSync(path, 'utf8'), path).toBe('original\n')
    expect(readFileSync(join(inside, '.git/hooks/post-commit'), 'utf8')).toBe('new\n')
  })

  test('to a carve-out refuses calls by each name that it is moved to, until it is removed', async () => {
    const { inside, file } = playground()
    const read = (name: string) =>
      cell.call(['/bin/cat', name], {
        policy: { filesystem: { write: [inside, `!${inside}/data/secret.key`] } },
        workspace: inside,
        cwd: inside,
      })
    linkSync(file('inside/data/secret.key'), join(inside, 'copy'))
    for (const name of ['copy', 'moved', 'data/moved']) {
      if (name !== 'copy') renameSync(join(inside, name === 'moved' ? 'copy' : 'moved'), join(inside, name))
      const call = await read(name)
      expect(call).toMatchObject({ kind: 'refused', error: { code: 'plan-rejected' } })
      expect(call.kind === 'refused' && call.error.message).toContain(join(inside, name))
    }
    rmSync(join(inside, 'data/moved'))
    expect(mustRun(await read('data/notes.txt')).result.status).toBe('exited')
  })
})

describeCells('a hard link to a carve-out of a read grant', (cell) => {
  const read = (inside: string, carved: readonly string[], path: string) =>
    cell.call(['/bin/cat', path], {
      policy: { filesystem: { read: [inside, ...carved.map((name) => `!${join(inside, name)}`)] } },
      workspace: inside,
      cwd: inside,
    })

  test.each([
    ['a file', 'conf/key'],
    ['a folder', 'conf'],
  ])('cannot be used to read %s, or to open it', async (_, carved) => {
    const { inside, file, folder } = playground()
    linkSync(file('inside/conf/key'), join(inside, 'copy'))
    linkSync(join(inside, 'copy'), join(folder('inside/a/b'), 'copy'))
    for (const path of ['copy', 'conf/key']) {
      const call = await read(inside, [carved], path)
      expect(call).toMatchObject({ kind: 'refused', error: { code: 'plan-rejected' } })
      expect(call.kind === 'refused' && call.error.message).toContain('another name')
    }
    for (const path of ['copy', 'conf/key'])
      expect(mustRun(await read(inside, [carved, 'copy', 'a/b/copy'], path)).stdout, path).toBe('')
  })

  test('does not matter outside the grants, or for a file with one name', async () => {
    const { inside, outside, file } = playground()
    linkSync(file('inside/conf/key'), join(outside, 'copy'))
    file('inside/conf/other')
    file('inside/open', 'open\n')
    expect(mustRun(await read(inside, ['conf/key', 'conf/other'], 'open')).stdout).toBe('open\n')
    expect(mustRun(await read(inside, ['conf/key'], 'conf/key')).stdout).toBe('')
  })
})

describeCells('other hard links', (cell) => {
  test('can be made, written and kept across calls', async () => {
    const { inside, file, folder } = playground()
    file('inside/.envrc', 'original\n')
    folder('inside/new')
    expect(
      mustRun(await shell(cell, [inside], 'echo one > new/a; ln new/a new/b; echo two >> new/b')).result.violations,
    ).toEqual([])
    expect(mustRun(await shell(cell, [inside], 'echo three >> new/b; cat new/a')).stdout).toBe('one\ntwo\nthree\n')
  })

  test('to git objects do not harm repositories that were cloned beside each other', async () => {
    const { inside } = playground()
    const git = 'export GIT_CONFIG_NOSYSTEM=1; git -c user.name=x -c user.email=x'
    const call = await shell(
      cell,
      [inside],
      `${git} init -q a && cd a && ${git} commit -q --allow-empty -m one && cd .. && ${git} clone -q a b; ` +
        'git -C b log --oneline | wc -l',
    )
    expect(mustRun(call)).toMatchObject({ stdout: '1\n', result: { status: 'exited' } })
    expect(deedsOf(call)).toEqual([])
    expect(execFileSync('git', ['-C', join(inside, 'b'), 'fsck'], { encoding: 'utf8', stdio: 'pipe' })).toBe('')
  })
})
