// Files that a program names: its cell may read libraries and interpreters, and nothing that only looks like them.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { needs } from '../../../../test/requirement.js'

import { describeForms } from './harness.js'
import { playground } from './playground.js'

const HAS_COMPILER = spawnSync('cc', ['--version']).status === 0

/** A program with a library of its own, and where the library is. */
const build = (folder: string, ...flags: readonly string[]) => {
  const [program, library] = [`${folder}/program`, `${folder}/own/library.so`]
  mkdirSync(`${folder}/own`, { recursive: true })
  writeFileSync(`${folder}/library.c`, 'int one(void) { return 1; }\n')
  writeFileSync(`${folder}/main.c`, 'int one(void);\nint main(void) { return one() - 1; }\n')
  execFileSync('cc', ['-shared', '-fPIC', `${folder}/library.c`, '-o', library])
  // Without a name of its own, the library is noted by its path.
  execFileSync('cc', [`${folder}/main.c`, library, '-o', program, ...flags])
  return { program, library }
}

describeForms('a file that a program names', (cell) => {
  const listing = (program: string) => ({ filesystem: {}, exec: ['cat', program] })

  test('as its library is readable only if it is one', async (context) => {
    needs(context, HAS_COMPILER, 'cc is missing; apt-get install gcc libc6-dev')
    const { inside } = playground()
    const { program, library } = build(inside)
    const twin = await cell.call([program], { policy: {} })
    expect(twin).toMatchObject({ kind: 'ran', result: { exitCode: 0 } })

    rmSync(library)
    writeFileSync(library, 'KEPT')
    const own = await cell.call([program], { policy: {} })
    expect(own).not.toMatchObject({ kind: 'ran', result: { exitCode: 0 } })
    const listed = await cell.call(['/bin/cat', library], { policy: listing(program) })
    expect(listed).toMatchObject({ kind: 'ran', stdout: '' })

    // A folder would be readable with everything in it, and a pipe would be waited for.
    rmSync(library)
    mkdirSync(library)
    writeFileSync(`${library}/key`, 'KEPT')
    expect(await cell.call(['/bin/cat', `${library}/key`], { policy: listing(program) })).toMatchObject({ stdout: '' })
    rmSync(library, { recursive: true })
    execFileSync('mkfifo', [library])
    expect(await cell.call(['/bin/true'], { policy: { exec: [program] } })).toMatchObject({ kind: 'ran' })
  })

  test('as its interpreter is readable only if it is a program', async (context) => {
    needs(context, HAS_COMPILER, 'cc is missing; apt-get install gcc libc6-dev')
    const { file, inside } = playground()
    const key = file('inside/key', 'KEPT')
    chmodSync(key, 0o755)
    const { program } = build(inside, `-Wl,--dynamic-linker=${key}`)
    expect(await cell.call(['/bin/cat', key], { policy: listing(program) })).toMatchObject({ stdout: '' })
  })

  test('in the first line of a script is readable only if it can be executed', async () => {
    const { file } = playground()
    const key = file('inside/key', 'KEPT')
    for (const line of [`#!${key}`, `#!/usr/bin/env ${key}`]) {
      const script = file('inside/script', `${line}\n`)
      chmodSync(script, 0o755)
      const call = await cell.call(['/bin/cat', key], { policy: listing(script) })
      if (call.kind === 'ran') expect(call.stdout).toBe('')
      else expect(call.error.code).toBe('grant-inexpressible')
    }
  })
})
