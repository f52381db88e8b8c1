import { setTimeout as wait } from 'node:timers/promises'
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { findLauncher } from 'cordon/sandbox'

import { expectHeld, mustRun } from './harness.js'
import { playground, snapshot } from './playground.js'
import { describeCells } from './walled.js'

describeCells('changing mode, owner, times and attributes', (cell) => {
  test('is refused for an owned file without a grant', async () => {
    const { file, inside, outside } = playground()
    const owned = file('outside/owned')
    const before = snapshot(outside)
    expectHeld(await cell.attack('metadata', [owned, inside], { policy: { filesystem: { write: [inside] } } }))
    expect(snapshot(outside)).toEqual(before)
  })

  test('is refused for an owned file with a read grant', async () => {
    const { file, inside, outside } = playground()
    const owned = file('outside/owned', 'content\n')
    const before = snapshot(outside)
    expectHeld(
      await cell.attack('metadata', [owned, inside], { policy: { filesystem: { read: [outside], write: [inside] } } }),
    )
    expect(snapshot(outside)).toEqual(before)
  })

  test('is refused for a folder with a read grant', async () => {
    const { folder, inside } = playground()
    const owned = folder('readable')
    const before = snapshot(owned)
    expectHeld(
      await cell.attack('metadata', [owned, inside], { policy: { filesystem: { read: [owned], write: [inside] } } }),
    )
    expect(snapshot(owned)).toEqual(before)
  })

  test('works for mode and times of a file in a write root', async () => {
    const { file, inside } = playground()
    const owned = file('inside/owned', 'content\n')
    const call = await cell.run(['/bin/sh', '-c', 'chmod 640 owned && touch -d "2001-01-01 00:00:00 UTC" owned'], {
      policy: { filesystem: { write: [inside] } },
      cwd: inside,
    })
    expect(call.stderr).toBe('')
    expect(statSync(owned).mode & 0o777).toBe(0o640)
    expect(statSync(owned).mtime.getUTCFullYear()).toBe(2001)
  })

  test('works for unpacking an archive that sets modes and times', async () => {
    const { file, inside, root } = playground()
    file('source/program', '#!/bin/sh\n', 0o755)
    execFileSync('tar', ['-C', join(root, 'source'), '-cf', join(inside, 'a.tar'), 'program'])
    const call = await cell.run(['/bin/tar', '-xf', 'a.tar'], {
      policy: { filesystem: { write: [inside] } },
      cwd: inside,
    })
    expect(call.stderr).toBe('')
    expect(statSync(join(inside, 'program')).mode & 0o777).toBe(0o755)
  })

  test('cannot use a supervisor as a deputy on its own objects', async () => {
    const { folder, inside } = playground()
    const watched = [findLauncher(), process.execPath, '/usr/bin/env', '/etc/passwd']
    const before = watched.flatMap((path) => snapshot(path))
    const call = mustRun(
      await cell.attack('deputy', [folder('inside/a/b')], { policy: { filesystem: { read: [inside] } } }),
    )
    expectHeld(call)
    expect(watched.flatMap((path) => snapshot(path))).toEqual(before)
  })

  test('cannot block the host by a lease on a readable file', async () => {
    const { file, inside, outside } = playground()
    const shared = file('outside/shared', 'content\n')
    const call = cell.attack('metadata', [shared, inside], {
      policy: { filesystem: { read: [outside], write: [inside] } },
    })
    await wait(1)
    expect(readFileSync(shared, 'utf8')).toBe('content\n')
    expectHeld(await call)
  })
})
