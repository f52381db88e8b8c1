import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { exitCodeOf } from '../../../../test/ending.js'

import { expectHeld, expectHeldOrRefused, mustRun, programs } from './harness.js'
import { playground } from './playground.js'
import { describeAllCells } from './walled.js'

const FORBIDDEN = '/usr/bin/true'

/** The dynamic loader of this system, which runs any program it can read. */
const loader = (): string => {
  for (const folder of ['/lib64', '/lib', '/usr/lib']) {
    const name = existsSync(folder)
      ? readdirSync(folder).find((entry) => /^ld-(linux|musl).*\.so/.test(entry))
      : undefined
    if (name !== undefined) return join(folder, name)
  }
  return '-'
}

describeAllCells('the exec policy', (cell) => {
  test('none: only the command itself can run', async () => {
    const { inside } = playground()
    expectHeld(
      await cell.attack('exec-policy', [FORBIDDEN, inside, loader()], {
        policy: { exec: 'none', filesystem: { write: [inside] } },
      }),
    )
  })

  test('a list: other programs cannot run', async () => {
    const { inside } = playground()
    expectHeld(
      await cell.attack('exec-policy', [FORBIDDEN, inside, loader()], {
        policy: { exec: ['/usr/bin/cat'], filesystem: { write: [inside] } },
      }),
    )
  })

  test('a list with a dynamically linked interpreter: other programs cannot run', async () => {
    const { inside } = playground()
    expectHeld(
      await cell.attack('exec-policy.py', [FORBIDDEN, inside, loader()], {
        policy: { exec: ['/usr/bin/python3'], filesystem: { write: [inside] } },
      }),
    )
  })

  test('a list: its programs can run', async () => {
    const call = await cell.run(['/bin/sh', '-c', 'echo named | cat'], {
      policy: { exec: ['/bin/sh', '/usr/bin/cat'] },
    })
    expect(call.stdout).toBe('named\n')
  })

  test('a list: its programs cannot start other programs', async () => {
    const call = await cell.run(['/bin/sh', '-c', 'id; ls /; exec env'], {
      policy: { exec: ['/bin/sh', '/usr/bin/cat'] },
    })
    expect(call.stdout).toBe('')
    expect(call.result.violations.map(({ kind }) => kind)).toContain('exec')
  })

  test('all: every readable program can run, also copies by the tool', async () => {
    const { inside } = playground()
    const { routes } = mustRun(
      await cell.attack('exec-policy', [FORBIDDEN, inside, loader()], {
        policy: { exec: 'all', filesystem: { write: [inside] } },
      }),
    )
    for (const name of ['execve', 'copy', 'shell', 'script'])
      expect(routes.find(({ route }) => route === name)).toMatchObject({ outcome: 'escaped' })
  })

  test('another program cannot run by changing the path during the call', async () => {
    const { file, folder } = playground()
    const [granted, ungranted] = [
      file('a/program', '#!/bin/sh\nexit 0\n', 0o755),
      file('b/program', '#!/bin/sh\nexit 42\n', 0o755),
    ]
    const call = await cell.attack('pointer-race', ['exec', granted, ungranted, '400'], {
      policy: { exec: [granted, '/bin/sh'], filesystem: { read: [folder('a'), folder('b')] } },
    })
    expectHeldOrRefused(call)
  })

  test('the launcher cannot be made to run itself as the tool (CVE-2019-5736)', async () => {
    const { inside } = playground()
    const script = join(inside, 'tool')
    writeFileSync(script, '#!/proc/self/exe\n')
    chmodSync(script, 0o755)
    const call = await cell.call([script], { policy: { filesystem: { write: [inside] } }, cwd: inside })
    if (call.kind === 'ran') expect(exitCodeOf(call.result)).not.toBe(0)
    else expect(call.error.code).not.toBe('')
    expect(exitCodeOf((await cell.run([...programs.command('burn'), 'files', '1'])).result)).toBe(0)
  })
})
