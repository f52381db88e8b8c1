import { linkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { exitCodeOf } from '../../../../test/ending.js'

import { expectHeld, mustRun, raceRounds } from './harness.js'
import { detailOf } from './outcomes.js'
import { playground } from './playground.js'
import { describeAllCells } from './walled.js'

const LANGUAGES = ['read-path', 'read-path.py', 'read-path.mjs', 'read-path.sh']

// Without a mount namespace a name can still be found out, which the profile states; never the content.
const NAMES_ONLY = { watch: 'tells when somebody uses the file, not what is in it' }

describeAllCells('reading without a grant', (cell) => {
  test.each(LANGUAGES)('cannot read an SSH key of the user (%s)', async (program) => {
    const { file, inside } = playground()
    const key = file('home/.ssh/id_ed25519')
    expectHeld(
      await cell.attack(program, [key, inside], { policy: { filesystem: { write: [inside] } } }),
      cell.form === 'landlock' ? NAMES_ONLY : {},
    )
  })

  test.each(LANGUAGES)('can read the granted file next to it (%s)', async (program) => {
    const { file, inside, root } = playground()
    file('home/.ssh/id_ed25519')
    const granted = file('home/.ssh/known_hosts', 'GRANTED\n')
    const call = mustRun(
      await cell.attack(program, [granted, inside], { policy: { filesystem: { read: [granted], write: [inside] } } }),
    )
    expect(call.routes[0]).toMatchObject({ outcome: 'escaped' })
    expect(call.stdout).toContain('GRANTED')
    expect(call.stdout).not.toContain(join(root, 'home/.ssh/id_ed25519'))
  })

  test('cannot read a cloud credential beside a granted folder', async () => {
    const { file, folder, inside } = playground()
    const credential = file('home/.aws/credentials')
    const read = folder('home/.aws-data')
    expectHeld(
      await cell.attack('read-path', [credential, inside], {
        policy: { filesystem: { read: [read], write: [inside] } },
      }),
    )
  })

  test('cannot read through a symlink planted in a write root before the call', async () => {
    const { file, inside } = playground()
    const key = file('home/.ssh/id_ed25519')
    symlinkSync(key, join(inside, 'notes.txt'))
    symlinkSync(join(key, '..'), join(inside, 'folder'))
    const policy = { filesystem: { write: [inside] } }
    for (const path of ['notes.txt', 'folder/id_ed25519', 'folder/../.ssh/id_ed25519']) {
      const call = await cell.run(['/bin/cat', join(inside, path)], { policy })
      expect(exitCodeOf(call.result)).not.toBe(0)
      expect(call.stdout).toBe('')
    }
  })

  test('can read through a symlink that stays in the write root', async () => {
    const { file, inside } = playground()
    file('inside/real.txt', 'GRANTED\n')
    symlinkSync('real.txt', join(inside, 'notes.txt'))
    const call = await cell.run(['/bin/cat', join(inside, 'notes.txt')], {
      policy: { filesystem: { write: [inside] } },
    })
    expect(call.stdout).toBe('GRANTED\n')
  })

  for (const [rounds, options] of raceRounds(20_000))
    test(`cannot read by swapping a symlink during its use (${rounds} times)`, options, async () => {
      const { file, inside, outside } = playground()
      file('outside/file')
      expectHeld(
        await cell.attack('swap-race', [outside, inside, rounds], { policy: { filesystem: { write: [inside] } } }),
      )
    })

  for (const [rounds, options] of raceRounds(20_000))
    test(`cannot read by changing the path during the call (${rounds} times)`, options, async () => {
      const { file, folder } = playground()
      folder('a')
      const call = await cell.attack('pointer-race', ['paths', file('a/file', 'GRANTED\n'), file('b/file'), rounds], {
        policy: { filesystem: { write: [folder('a')] } },
      })
      expectHeld(call)
    })

  test('gets nothing from a granted pattern that matches a symlink', async () => {
    const { file, inside } = playground()
    const key = file('home/.ssh/id_ed25519')
    symlinkSync(key, join(inside, 'innocent.txt'))
    file('inside/real.txt', 'GRANTED\n')
    const policy = { filesystem: { read: [`${inside}/*.txt`] } }
    expect((await cell.run(['/bin/cat', join(inside, 'real.txt')], { policy })).stdout).toBe('GRANTED\n')
    const call = await cell.run(['/bin/cat', join(inside, 'innocent.txt')], { policy })
    expect(call.stdout).toBe('')
    expect(exitCodeOf(call.result)).not.toBe(0)
  })

  test('cannot read a file that has a second name in a granted folder but is elsewhere', async () => {
    // The second name is granted, and that is what a hard link means; the first name stays closed.
    const { file, inside } = playground()
    const key = file('home/key', 'linked\n')
    linkSync(key, join(inside, 'alias'))
    const policy = { filesystem: { read: [inside] } }
    expect((await cell.run(['/bin/cat', join(inside, 'alias')], { policy })).stdout).toBe('linked\n')
    expect((await cell.run(['/bin/cat', key], { policy })).stdout).toBe('')
  })

  test('cannot list names without a grant', async () => {
    const { file, outside, root } = playground()
    const hidden = file('outside/hidden')
    symlinkSync('/somewhere', join(outside, 'link'))
    const call = await cell.attack('names', [hidden, join(outside, 'link'), outside], {
      policy: { filesystem: { read: [join(root, 'inside')] } },
    })
    const { result, routes } = mustRun(call)
    if (cell.form !== 'landlock' || result.profile.backend === 'bubblewrap') {
      expectHeld(call)
      return
    }
    // Without a mount namespace names cannot be hidden, and the profile must say so; listing a folder is refused all
    // the same.
    expect(result.profile.enforced['file_names']).toEqual([])
    expect(detailOf(routes, 'listing')).toBe('EACCES')
    expect(detailOf(routes, 'listing-above')).toBe('EACCES')
  })

  test('finds nothing at the path of an ungranted file', async ({ skip }) => {
    if (cell.form === 'landlock') skip('names are hidden by the mount namespace only')
    const { file, inside } = playground()
    const { routes } = mustRun(
      await cell.attack('read-path', [file('home/.netrc'), inside], { policy: { filesystem: { write: [inside] } } }),
    )
    for (const route of ['open', 'openat-parent', 'proc-self-root', 'symlink', 'dot-dot'])
      expect(detailOf(routes, route)).toBe('ENOENT')
  })
})
