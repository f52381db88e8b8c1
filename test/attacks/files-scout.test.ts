// Against the process that watches over write roots: links, folders that were closed, and very much at once.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { IS_ROOT, describeForms } from './harness.js'
import type { Cell } from './harness.js'
import { playground } from './playground.js'

const work = async (cell: Cell, workspace: string, argv: readonly string[]): ReturnType<Cell['call']> =>
  cell.call(argv, { policy: { filesystem: { write: [workspace] } }, workspace, cwd: workspace })

const shell = async (cell: Cell, workspace: string, script: string) => work(cell, workspace, ['/bin/sh', '-c', script])
const python = async (cell: Cell, workspace: string, script: string) => work(cell, workspace, ['/usr/bin/python3', '-c', script])

const PLANT = 'mkdir -p .git/hooks; echo "#!/bin/sh" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit'

/** Hooks that git would run, anywhere beneath. */
const liveHooks = (folder: string): readonly string[] => {
  const listing = execFileSync('find', [folder, '-path', '*/.git/hooks/pre-commit', '-not', '-path', '*set-aside*'], { encoding: 'utf8' })
  return listing.split('\n').filter((line) => line !== '')
}

describeForms('protected links', (cell) => {
  test('cannot remove one, nor lead it elsewhere', async () => {
    for (const script of ['rm .envrc', 'rm .envrc; ln -s evil .envrc', 'echo evil > new; mv new .envrc']) {
      const { file, inside } = playground()
      file('inside/shared/envrc', 'original\n')
      symlinkSync('shared/envrc', join(inside, '.envrc'))
      await shell(cell, inside, `${script}; true`)
      expect(readlinkSync(join(inside, '.envrc')), script).toBe('shared/envrc')
    }
  })

  test('cannot change what one leads to', async () => {
    const { file, inside } = playground()
    const target = file('inside/shared/envrc', 'original\n')
    symlinkSync('shared/envrc', join(inside, '.envrc'))
    await shell(cell, inside, 'echo evil > shared/envrc; rm -f shared/envrc; echo evil > shared/envrc; mv shared gone; mkdir shared; echo evil > shared/envrc; true')
    expect(readFileSync(target, 'utf8')).toBe('original\n')
  })

  test('cannot change a folder of hooks that one leads to', async () => {
    const { inside, folder } = playground()
    execFileSync('git', ['init', '-q', '--template=', inside])
    folder('inside/hooks')
    symlinkSync('../hooks', join(inside, '.git/hooks'))
    await shell(cell, inside, 'echo evil > hooks/pre-commit; mv hooks h; mkdir hooks; echo evil > hooks/pre-commit; true')
    expect(existsSync(join(inside, 'hooks/pre-commit'))).toBe(false)
  })

  test('cannot make what one leads to, where nothing is', async () => {
    const { inside, folder } = playground()
    folder('inside/shared')
    symlinkSync('shared/envrc', join(inside, '.envrc'))
    await shell(cell, inside, 'echo evil > shared/envrc; true')
    expect(existsSync(join(inside, '.envrc'))).toBe(false)
  })

  test('can change what other links lead to', async () => {
    const { file, inside } = playground()
    const target = file('inside/shared/readme', 'original\n')
    symlinkSync('shared/readme', join(inside, 'README'))
    await shell(cell, inside, 'echo new > README')
    expect(readFileSync(target, 'utf8')).toBe('new\n')
  })
})

describeForms('a tool that hides from the scout', (cell) => {
  const HIDING: Readonly<Record<string, string>> = {
    'a folder that nobody may read': 'mkdir d; cd d; PLANT; chmod 000 ../d',
    'a folder closed before and opened after': 'mkdir d; chmod 700 d; cd d; PLANT; cd ..; chmod 000 d; sleep 0.3; chmod 700 d',
    'an old folder that nobody may read': 'cd old; PLANT; chmod 000 ../old',
    'a folder that nothing may be renamed in': 'mkdir d; cd d; PLANT; chmod 555 . .git .git/hooks',
    'a folder that is moved again and again': 'mkdir a; (cd a; PLANT); i=0; while [ $i -lt 300 ]; do mv a b; mv b a; i=$((i + 1)); done',
    'a folder made elsewhere and moved in': 'mkdir "$TMPDIR/x" && cd "$TMPDIR/x" && PLANT && mv "$TMPDIR/x" "$OLDPWD/d"',
    'a folder that is itself protected': 'mkdir -p s/.venv/src; cd s/.venv/src; PLANT',
    'a folder where every name to move to is taken': 'n=$(date +%s); for t in 0 1 2 3; do for i in 0 1 2 3 4 5 6 7 8 9; do mkdir -p .git/hooks; : > .git/hooks/pre-commit.set-aside-by-cordon-$(printf %x $((n + t)))-$i; done; done; PLANT',
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

  test('leaves no name of several parts by renaming the first', async () => {
    const { inside } = playground()
    await shell(cell, inside, 'mkdir -p x/fish x/autostart; echo evil > x/fish/config.fish; mv x .config; true')
    expect(existsSync(join(inside, '.config/fish'))).toBe(false)
    expect(existsSync(join(inside, '.config/autostart'))).toBe(false)
  })

  test('cannot keep it busy by moving a large tree to and fro', async () => {
    const { inside } = playground()
    execFileSync('/usr/bin/python3', ['-c', 'import os\nfor i in range(4000): os.makedirs(f"tree/{i % 40}/{i}")'], { cwd: inside })
    const call = await python(cell, inside, `
import os
for i in range(1500):
  os.rename("tree", "eert"); os.rename("eert", "tree")
os.makedirs("tree/7/7/.git/hooks")
open("tree/7/7/.git/hooks/pre-commit", "w").write("#!/bin/sh")
`)
    expect(call.kind).toBe('ran')
    expect(liveHooks(inside)).toEqual([])
  })

  test('cannot drown one name in thousands', async () => {
    const { inside } = playground()
    await python(cell, inside, `
import os
for i in range(1000):
  os.makedirs(f"r{i}/.git/hooks"); open(f"r{i}/.git/hooks/pre-commit", "w").close()
`)
    expect(liveHooks(inside)).toEqual([])
  })

  test('can make and move thousands of folders of its own', async () => {
    const { inside } = playground()
    const call = await python(cell, inside, 'import os\nfor i in range(2000): os.makedirs(f"a/{i}/b")\nos.rename("a", "c"); print(len(os.listdir("c")))')
    expect(call).toMatchObject({ kind: 'ran', stdout: '2000\n' })
  })
})

describeForms('a write root that cannot be looked through', (cell) => {
  // Deeper than a path can name. That there are too many folders is found out and told in the same way.
  const DEEP = 'import os\nfor i in range(20): os.mkdir("d" * 250); os.chdir("d" * 250)'

  test('is refused, with what to do', async () => {
    const { inside } = playground()
    execFileSync('/usr/bin/python3', ['-c', DEEP], { cwd: inside })
    const call = await shell(cell, inside, 'true')
    expect(call).toMatchObject({ kind: 'refused', error: { code: 'plan-rejected' } })
    expect(call.kind === 'refused' && call.error.message).toContain('grant smaller folders')
  })

  test('is reported when the tool made it so', async () => {
    const { inside } = playground()
    const call = await python(cell, inside, DEEP)
    expect(call.kind === 'ran' && call.result.violations.map(({ kind }) => kind)).toEqual(['protected'])
  })
})
