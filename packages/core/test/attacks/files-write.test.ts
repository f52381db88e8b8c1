import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { exitCodeOf } from '../../../../test/ending.js'

import { expectHeld, expectHeldOrRefused, mustRun, programs, raceRounds } from './harness.js'
import { playground, snapshot } from './playground.js'
import { describeAllCells } from './walled.js'

const seeded = (): ReturnType<typeof playground> => {
  const ground = playground()
  execFileSync(programs.command('write-outside')[0], ['--seed', ground.outside])
  return ground
}

describeAllCells('writing outside write roots', (cell) => {
  test('cannot change a folder without a grant', async () => {
    const { inside, outside } = seeded()
    const before = snapshot(outside)
    expectHeld(await cell.attack('write-outside', [outside, inside], { policy: { filesystem: { write: [inside] } } }))
    expect(snapshot(outside)).toEqual(before)
  })

  test('cannot change a folder with a read grant', async () => {
    const { inside, outside } = seeded()
    const before = snapshot(outside)
    expectHeld(
      await cell.attack('write-outside', [outside, inside], {
        policy: { filesystem: { read: [outside], write: [inside] } },
      }),
      // A read-only mount keeps files from being written, not the pipes among them.
      cell.form === 'mounts' ? { fifo: 'SECURITY.md lists it' } : {},
    )
    expect(snapshot(outside)).toEqual(before)
  })

  test('can do all of it in a folder with a write grant', async () => {
    const { inside, outside } = seeded()
    const { routes } = mustRun(
      await cell.attack('write-outside', [outside, inside], { policy: { filesystem: { write: [inside, outside] } } }),
    )
    const worked = new Set(routes.filter(({ outcome }) => outcome === 'escaped').map(({ route }) => route))
    for (const route of [
      'open-wronly',
      'o-creat',
      'open-trunc',
      'mkdir',
      'rename-within',
      'unlink',
      'rmdir',
      'symlink-outside',
      'mmap-shared',
      'fifo',
    ]) {
      expect([...worked], route).toContain(route)
    }
    expect(existsSync(join(outside, 'created'))).toBe(true)
  })

  for (const [rounds, options] of raceRounds(5_000))
    test(`cannot write by swapping a symlink during its use (${rounds} times)`, options, async () => {
      const { file, inside, outside } = playground()
      file('outside/file')
      const before = snapshot(outside)
      expectHeld(
        await cell.attack('swap-race', [outside, inside, rounds], {
          policy: { filesystem: { read: [], write: [inside] } },
        }),
      )
      expect(snapshot(outside)).toEqual(before)
    })

  for (const [rounds, options] of raceRounds(5_000))
    test(`cannot write by changing the path during the call (${rounds} times)`, options, async () => {
      const { file, folder } = playground()
      const [granted, ungranted] = [file('a/file', 'GRANTED\n'), file('b/file', 'untouched\n')]
      const before = snapshot(folder('b'))
      expectHeld(
        await cell.attack('pointer-race', ['paths', granted, ungranted, rounds], {
          policy: { filesystem: { read: [folder('b')], write: [folder('a')] } },
        }),
      )
      expect(snapshot(folder('b'))).toEqual(before)
    })

  test('cannot write through a folder symlink that was in the write root before the call', async () => {
    const { inside, outside, file } = playground()
    file('outside/file', 'original\n')
    symlinkSync(outside, join(inside, 'out'))
    const before = snapshot(outside)
    const call = await cell.run(
      ['/bin/sh', '-c', 'echo planted > out/file; echo planted > out/new; mkdir out/folder; rm -f out/file'],
      {
        policy: { filesystem: { write: [inside] } },
        cwd: inside,
      },
    )
    expect(exitCodeOf(call.result)).toBeDefined()
    expect(snapshot(outside)).toEqual(before)
  })

  test('does not get the target if an earlier call replaced a write root by a symlink', async () => {
    const { inside, outside, file } = playground()
    file('outside/file', 'original\n')
    mkdirSync(join(inside, 'out'))
    const before = snapshot(outside)
    await cell.run(['/bin/sh', '-c', `rmdir out && ln -s '${outside}' out`], {
      policy: { filesystem: { write: [inside] } },
      cwd: inside,
    })
    expect(lstatSync(join(inside, 'out')).isSymbolicLink()).toBe(true)
    // The later tool is granted the folder by its path, in good faith. It may be refused; it may not write elsewhere.
    const later = await cell.call(
      ['/bin/sh', '-c', `echo planted > '${inside}/out/file'; echo planted > '${inside}/out/new'`],
      {
        policy: { filesystem: { write: [`${inside}/out/**`] } },
      },
    )
    if (later.kind === 'refused') expect(later.error.code).not.toBe('')
    expect(snapshot(outside)).toEqual(before)
  })

  test('can write in a write root that is a real folder', async () => {
    const { inside } = playground()
    mkdirSync(join(inside, 'out'))
    await cell.run(['/bin/sh', '-c', 'echo mine > out/file'], {
      policy: { filesystem: { write: [`${inside}/out/**`] } },
      cwd: inside,
    })
    expect(readFileSync(join(inside, 'out/file'), 'utf8')).toBe('mine\n')
  })

  test("cannot change files beside its grant in the host's /tmp", async () => {
    const ground = playground('/tmp')
    const victim = ground.file('outside/file', 'original\n')
    const before = snapshot(ground.outside)
    await cell.run(
      [
        '/bin/sh',
        '-c',
        `echo planted > '${victim}'; echo planted > '${ground.outside}/new'; echo mine > '${ground.inside}/mine'`,
      ],
      {
        policy: { filesystem: { write: [ground.inside] } },
      },
    )
    expect(snapshot(ground.outside)).toEqual(before)
    expect(readFileSync(join(ground.inside, 'mine'), 'utf8')).toBe('mine\n')
  })

  test("cannot read files beside its grant in the host's /tmp", async () => {
    const ground = playground('/tmp')
    const secret = ground.file('outside/file')
    expectHeld(
      await cell.attack('read-path', [secret, ground.inside], { policy: { filesystem: { write: [ground.inside] } } }),
    )
  })

  test('leaves nothing of its private /tmp to the next call', async () => {
    const first = await cell.run([
      '/bin/sh',
      '-c',
      'echo left > /tmp/cordon-left; echo left > "${TMPDIR:-/tmp}/cordon-left"; echo left > ' +
        '/dev/shm/cordon-left; ls "${TMPDIR:-/tmp}"',
    ])
    expect(first.stdout).toContain('cordon-left')
    const second = await cell.run([
      '/bin/sh',
      '-c',
      'cat /tmp/cordon-left "${TMPDIR:-/tmp}/cordon-left" /dev/shm/cordon-left 2>/dev/null; true',
    ])
    expect(second.stdout).toBe('')
    for (const place of ['/tmp/cordon-left', '/dev/shm/cordon-left']) expect(existsSync(place)).toBe(false)
  })

  test('cannot climb out of a folder that is moved out of its write root during the call', async () => {
    const { file, folder, inside, outside } = playground()
    file('outside/secret')
    file('outside/deeper/secret')
    const standing = folder('inside/standing')
    const before = snapshot(join(outside, 'secret'))
    const call = await cell.attack('climb-out', [inside, standing], {
      policy: { filesystem: { write: [inside] } },
      onStdout: (text) => {
        if (!text.includes('in place')) return
        execFileSync('mv', [standing, join(outside, 'deeper')])
        file('inside/go', '')
      },
    })
    expectHeldOrRefused(call)
    expect(snapshot(join(outside, 'secret'))).toEqual(before)
    expect(existsSync(join(outside, 'deeper/planted'))).toBe(false)
    expect(existsSync(join(outside, 'planted'))).toBe(false)
  })
})
