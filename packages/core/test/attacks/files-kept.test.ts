// A write root with protected files. In the `landlock` form the keeper writes there for the tool. The tool must not
// make it write anywhere else, or to protected files.
import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { expectHeld, inMainCells, mustRun, programs } from './harness.js'
import { playground, snapshot } from './playground.js'
import { describeCells } from './walled.js'

const kept = (): ReturnType<typeof playground> => {
  const ground = playground()
  ground.file('inside/.envrc', 'original\n')
  return ground
}

describeCells('a write root with protected files', (cell) => {
  test('cannot be used to write elsewhere, by any route', async () => {
    const { inside, outside } = kept()
    execFileSync(programs.command('write-outside')[0], ['--seed', outside])
    const before = snapshot(outside)
    expectHeld(
      await cell.attack('write-outside', [outside, inside], {
        policy: { filesystem: { read: [outside], write: [inside] } },
      }),
    )
    expect(snapshot(outside)).toEqual(before)
  })

  test('cannot be left by swapping a link during its use', inMainCells(cell), async () => {
    const { file, inside, outside } = kept()
    file('outside/file')
    const before = snapshot(outside)
    expectHeld(
      await cell.attack('swap-race', [outside, inside, '1500'], { policy: { filesystem: { write: [inside] } } }),
    )
    expect(snapshot(outside)).toEqual(before)
  })

  test('cannot be left by changing the path during the call', inMainCells(cell), async () => {
    const { file, folder } = playground()
    const [granted, ungranted] = [file('a/file', 'GRANTED\n'), file('b/file', 'untouched\n')]
    file('a/.envrc', 'original\n')
    const before = snapshot(folder('b'))
    expectHeld(
      await cell.attack('pointer-race', ['paths', granted, ungranted, '1500'], {
        policy: { filesystem: { read: [folder('b')], write: [folder('a')] } },
      }),
    )
    expect(snapshot(folder('b'))).toEqual(before)
  })

  test('protects its files against another name, a link, a descriptor and a move', async () => {
    const { inside } = kept()
    const object = join(inside, '.envrc')
    const before = snapshot(object)
    const script = `
import os
def tried(way):
  try: way()
  except OSError: pass
for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC, os.O_WRONLY | os.O_CREAT | os.O_APPEND):
  for path in ('.envrc', './.envrc', 'd/../.envrc', '${inside}/.envrc', 'link', '/proc/self/cwd/.envrc'):
    tried(lambda: os.write(os.open(path, flags), b'planted'))
folder = os.open('.', os.O_PATH)
tried(lambda: os.write(os.open('.envrc', os.O_WRONLY, dir_fd=folder), b'planted'))
opened = os.open('.envrc', os.O_RDONLY)
tried(lambda: os.write(os.open(f'/proc/self/fd/{opened}', os.O_WRONLY), b'planted'))
tried(lambda: os.symlink('.envrc', 'link2')); tried(lambda: os.truncate('link2', 0)); tried(lambda: os.truncate('.envrc', 0))
tried(lambda: os.link('.envrc', 'second')); tried(lambda: open('second', 'a').write('planted'))
tried(lambda: os.link(f'/proc/self/fd/{opened}', 'third')); tried(lambda: open('third', 'a').write('planted'))
tried(lambda: os.rename('.envrc', 'moved')); tried(lambda: os.unlink('.envrc')); tried(lambda: os.chmod('.envrc', 0o777))
open('other', 'w').write('planted'); tried(lambda: os.rename('other', '.envrc'))
`
    await cell.call(['/usr/bin/python3', '-c', `import os; os.mkdir('d'); os.symlink('.envrc', 'link')\n${script}`], {
      policy: { filesystem: { write: [inside] } },
      cwd: inside,
    })
    expect(snapshot(object)).toEqual(before)
  })

  test('protects its files against a name from before the call, which no mount seals', async () => {
    if (cell.form === 'namespaces') return
    const { inside } = kept()
    linkSync(join(inside, '.envrc'), join(inside, 'second'))
    await cell.call(['/bin/sh', '-c', 'echo planted >> second; chmod 777 second; true'], {
      policy: { filesystem: { write: [inside] } },
      cwd: inside,
    })
    expect(readFileSync(join(inside, '.envrc'), 'utf8')).toBe('original\n')
  })

  test('does not show its hidden files, by any name', async () => {
    const { file, inside } = kept()
    const secret = file('inside/key')
    const before = snapshot(secret)
    const call = await cell.call(
      [
        '/bin/sh',
        '-c',
        'cat key ./key; ln key k2; cat k2; ln -s key k3; cat k3; cat < key; cp key k4; cat k4; mv key k5; ' +
          'cat k5; rm -f key; exec 2> /dev/null; cat /proc/self/cwd/key; true',
      ],
      {
        policy: { filesystem: { write: [inside, `!${secret}`] } },
        cwd: inside,
      },
    )
    expect(call.kind === 'ran' ? call.stdout : '').not.toContain('SECRET')
    expect(snapshot(secret)).toEqual(before)
  })

  test('can be used beside the hidden files', async () => {
    const { file, inside } = kept()
    const secret = file('inside/key')
    const call = mustRun(
      await cell.call(['/bin/sh', '-c', 'mkdir d && echo own > d/f && mv d/f d/g && cat d/g && ls && cat .envrc'], {
        policy: { filesystem: { write: [inside, `!${secret}`] } },
        cwd: inside,
      }),
    )
    expect(call.stdout).toBe('own\nd\nkey\noriginal\n')
  })

  test('allows creating a file through a link, but nothing protected and nothing elsewhere', async () => {
    const { file, inside, outside } = kept()
    const settings = dirname(file('inside/.vscode/settings.json'))
    const before = [snapshot(outside), snapshot(settings)]
    const script = `mkdir sub; ln -s ../real sub/second; ln -s sub/second first; echo made > first; cat real
ln -s .vscode/tasks.json tasks; ln -s ${outside}/out out; ln -s loop loop; ln -s nowhere/x missing
for link in tasks out loop missing; do (echo planted > $link) && echo $link; done
(set -C; echo planted > first); echo more >> first; cat real; ls`
    const call = await cell.call(['/bin/sh', '-c', script], {
      policy: { filesystem: { write: [inside] } },
      workspace: inside,
      cwd: inside,
    })
    expect(mustRun(call).stdout).toBe('made\nmade\nmore\nfirst\nloop\nmissing\nout\nreal\nsub\ntasks\n')
    expect([snapshot(outside), snapshot(settings)]).toEqual(before)
  })

  test('leaves no process behind for a pipe whose opener was killed', inMainCells(cell), async () => {
    const { inside } = kept()
    const script =
      'mkfifo p; for i in $(seq 20); do (: > p) & done; sleep 1; kill $(jobs -p); wait; touch killed; while ' +
      '[ ! -e seen ]; do sleep 0.1; done; (echo through > p &); cat p'
    const running = cell.call(['/bin/bash', '-c', script], {
      policy: { filesystem: { write: [inside] } },
      workspace: inside,
      cwd: inside,
    })
    await expect.poll(() => existsSync(join(inside, 'killed'))).toBe(true)
    await expect.poll(() => mostChildren(process.pid)).toBeLessThan(15)
    writeFileSync(join(inside, 'seen'), '')
    expect(mustRun(await running).stdout).toBe('through\n')
  })
})

/** Of one process among the descendants of this one. */
const mostChildren = (process: number): number => {
  const children = childrenOf(process)
  return Math.max(children.length, ...children.map(mostChildren))
}

const childrenOf = (process: number): readonly number[] => {
  try {
    return readdirSync(`/proc/${String(process)}/task`)
      .flatMap((task) => readFileSync(`/proc/${String(process)}/task/${task}/children`, 'utf8').split(' '))
      .flatMap((child) => (child === '' ? [] : [Number(child)]))
  } catch {
    return []
  }
}
