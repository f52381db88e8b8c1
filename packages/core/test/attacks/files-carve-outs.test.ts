import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { expectHeld, expectHeldOrRefused, mustRun, programs } from './harness.js'
import type { Cell } from './harness.js'
import { playground, snapshot } from './playground.js'
import { describeCells } from './walled.js'

type Mode = 'write' | 'create' | 'read'

const routesOf = (mode: Mode): readonly string[] =>
  execFileSync(programs.command('carve-out')[0], ['--routes', mode], { encoding: 'utf8' }).trimEnd().split('\n')

const seed = (mode: Mode): { readonly root: string; readonly carved: readonly string[] } => {
  const { inside } = playground()
  execFileSync(programs.command('carve-out')[0], ['--seed', mode, inside])
  return { root: inside, carved: routesOf(mode).map((route) => join(inside, route, 'conf/secret')) }
}

/** The carved files as the host sees them, with the folders they lie in. */
const state = (carved: readonly string[]): readonly string[] => carved.flatMap((path) => snapshot(path, path))

// What is carved out of a folder cannot be told to Landlock, which only adds rights: the folder's other entries are
// granted one by one. So in that form nothing new can be made beside a carved file, and the routes that need that are
// refused for that reason.
const spelled = (kind: 'literal' | 'pattern', root: string, carved: readonly string[]): readonly string[] =>
  kind === 'literal' ? carved.map((path) => `!${path}`) : [`!${root}/**/secret`]

describeCells('carve-outs in a write root', (cell) => {
  test.each(['literal', 'pattern'] as const)('cannot write a carved-out file by any route (%s)', async (kind) => {
    const { root, carved } = seed('write')
    const before = state(carved)
    const call = await cell.attack('carve-out', ['write', root], {
      policy: { filesystem: { write: [root, ...spelled(kind, root, carved)] } },
    })
    expectCarved(cell, call)
    expect(state(carved)).toEqual(before)
  })

  test.each(['literal', 'pattern'] as const)(
    'cannot read a file that is carved out of reading, by any route (%s)',
    async (kind) => {
      const { root, carved } = seed('read')
      const before = state(carved)
      const call = await cell.attack('carve-out', ['read', root], {
        policy: { filesystem: { write: [root], read: spelled(kind, root, carved) } },
      })
      expectCarved(cell, call)
      expect(state(carved)).toEqual(before)
    },
  )

  test('cannot create a carved-out file that does not exist yet', async () => {
    const { root, carved } = seed('create')
    const call = await cell.attack('carve-out', ['create', root], {
      policy: { filesystem: { write: [root, ...carved.map((path) => `!${path}`)] } },
    })
    if (cell.form === 'landlock' && call.kind === 'refused') return
    mustRun(call)
    // Kept from being made, or set aside when the call ended: in no case live.
    for (const path of carved) expect(existsSync(path), path).toBe(false)
  })

  test('cannot create one by redirecting its folder', async () => {
    const { folder, inside } = playground()
    folder('inside/conf')
    await cell.call(['/bin/sh', '-c', 'mkdir evil; echo x > evil/secret; mv conf conf2; ln -s evil conf; true'], {
      cwd: inside,
      policy: { filesystem: { write: [inside, `!${inside}/conf/secret`] } },
    })
    expect(existsSync(`${inside}/conf/secret`)).toBe(false)
  })

  test('can write beside a carved-out file, and read it if reading is granted', async () => {
    const { file, inside } = playground()
    file('inside/conf/secret', 'KEPT')
    const beside = file('inside/conf/beside', 'old')
    const call = await cell.run(['/bin/sh', '-c', 'echo new > conf/beside; cat conf/secret'], {
      policy: { filesystem: { read: [inside], write: [inside, `!${inside}/conf/secret`] } },
      cwd: inside,
    })
    expect(call.stdout).toBe('KEPT')
    expect(readFileSync(beside, 'utf8')).toBe('new\n')
  })

  test('can work in the parts of a write root without carve-outs', async () => {
    const { file, folder, inside } = playground()
    file('inside/conf/secret')
    folder('inside/src')
    const call = await cell.run(
      ['/bin/sh', '-c', 'cd src && echo a > a && mkdir d && mv a d/b && cat d/b && rm -r d'],
      {
        policy: { filesystem: { read: [`!${inside}/conf/secret`], write: [inside] } },
        cwd: inside,
      },
    )
    expect(call.stderr).toBe('')
    expect(call.stdout).toBe('a\n')
  })

  test('a carve-out wins over a grant that names the file itself, in any order', async () => {
    const { file, inside } = playground()
    const secret = file('inside/conf/secret')
    for (const read of [
      [secret, `!${secret}`],
      [`!${secret}`, secret],
    ]) {
      const call = await cell.call(['/bin/cat', secret], { policy: { filesystem: { read, write: [inside] } } })
      if (call.kind === 'ran') expect(call.stdout).toBe('')
    }
  })

  test('a carve-out wins over a listed program, with and without a grant around it', async () => {
    const { file, inside } = playground()
    const hidden = file('inside/private/tool.sh', '#!/bin/sh\necho KEPT\n')
    const shown = file('inside/public/tool.sh', '#!/bin/sh\necho ran\n')
    for (const path of [hidden, shown]) chmodSync(path, 0o755)
    for (const filesystem of [
      { read: [`!${inside}/private/**`] },
      { read: [inside, `!${inside}/private/**`] },
      { write: [inside, `!${inside}/private/**`] },
    ]) {
      const run = (path: string) =>
        cell.call(['/bin/sh', '-c', `cat ${path}; ${path}`], {
          policy: { filesystem, exec: ['sh', 'cat', path] },
        })
      expect(await run(hidden)).toMatchObject({ kind: 'refused', error: { code: 'program-not-executable' } })
      expect(await run(shown)).toMatchObject({ kind: 'ran', stdout: '#!/bin/sh\necho ran\nran\n' })
    }
  })

  test('a folder carved out of a read root is absent, with its content', async () => {
    const { file, inside } = playground()
    const secret = file('inside/private/deep/key')
    const granted = file('inside/public/key', 'GRANTED')
    const policy = { filesystem: { read: [inside, `!${inside}/private`] } }
    expectHeldOrRefused(await cell.attack('read-path', [secret, inside], { policy }))
    expect(mustRun(await cell.call(['/bin/cat', granted], { policy })).stdout).toBe('GRANTED')
  })
})

const expectCarved = (cell: Cell, call: Awaited<ReturnType<Cell['call']>>): void => {
  if (cell.form === 'namespaces') {
    expectHeld(call)
    return
  }
  if (call.kind === 'refused') return
  // Some routes need a decoy beside the carved file, which cannot be made there in this form: the program then says so
  // and ends early.
  expect(call.routes.filter(({ outcome }) => outcome === 'escaped')).toEqual([])
}
