// The package as npm packs it, installed into an empty folder, with and without a compiler.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { statSync } from 'node:fs'
import { join, relative } from 'node:path'

import { beforeEach, describe, expect, test } from 'vitest'

import { CORE } from '../repository.js'
import { npmIn, npmProgram, onPath, packInto } from '../packed-package.js'
import { needs } from '../requirement.js'
import { temporaryFolder } from '../../packages/core/test/cli/cordon.js'

const LAUNCHER_PACKAGE = `@cordon/launcher-linux-${process.arch}`
const folder = temporaryFolder()

/** A PATH with what npm itself needs, and no compiler. */
const bare = join(folder, 'bare')
mkdirSync(bare)
symlinkSync(process.execPath, join(bare, 'node'))
symlinkSync(realpathSync('/bin/sh'), join(bare, 'sh'))

const npm = npmIn(folder)

/** A compiler that compiles the launcher once. The same sources give the same program. */
const compiling = join(folder, 'compiling')
mkdirSync(compiling)
writeFileSync(
  join(compiling, 'cc'),
  `#!/bin/sh
for word; do
  [ "$last" = -o ] && out=$word
  last=$word
done
# Tries of options write to /dev/null.
[ "$out" = /dev/null ] || [ "$out" = '' ] && exec ${onPath('cc') ?? 'cc'} "$@"
kept=${compiling}/launcher
[ -e "$kept" ] || { ${onPath('cc') ?? 'cc'} "$@" && cp "$out" "$kept"; exit; }
cp "$kept" "$out"
`,
  { mode: 0o755 },
)

const SYSTEM = `${bare}:${compiling}:/usr/local/bin:/usr/bin:/bin`

const packed = join(folder, 'packed')

const ownArchive = (): string => {
  const made = readdirSync(packed)
  expect(made).toHaveLength(1)
  return join(packed, made[0] ?? '')
}

const packedFiles = (): readonly string[] =>
  execFileSync('tar', ['-tzf', ownArchive()], { encoding: 'utf8' })
    .split('\n')
    .map((name) => name.replace(/^package\//, ''))

const filesOf = (place: string): readonly string[] =>
  readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(place, join(entry.parentPath, entry.name)))

const run = (place: string) => {
  const { status, stdout, stderr } = spawnSync(
    join(place, 'node_modules', '.bin', 'cordon'),
    ['run', '--', 'echo', 'ran'],
    { cwd: '/', env: { PATH: SYSTEM, HOME: folder }, encoding: 'utf8' },
  )
  return { status, stdout, stderr }
}

describe('npm install of the packed package', { timeout: 900_000 }, () => {
  const place = join(folder, 'project')
  const installed = join(place, 'node_modules', 'cordon')
  const rebuild = (path: string) => npm(['rebuild', 'cordon'], place, path)
  beforeEach((context) => {
    needs(context, npmProgram !== undefined, 'npm is not in the PATH')
  })

  test('with a compiler builds the launcher, and the command line and the library work', () => {
    mkdirSync(place)
    const { status, output } = npm(['install', packInto(npm, CORE, packed, SYSTEM)], place, SYSTEM)
    expect(status, output).toBe(0)
    expect(run(place)).toEqual({ status: 0, stdout: 'ran\n', stderr: '' })
    writeFileSync(
      join(place, 'use.mjs'),
      "import { openSandbox } from 'cordon/sandbox'\nimport { parsePolicy } from 'cordon/policy'\nimport { " +
        "CordonError } from 'cordon/errors'\nconsole.log(typeof openSandbox, typeof parsePolicy, typeof " +
        'CordonError)\n',
    )
    expect(spawnSync(process.execPath, ['use.mjs'], { cwd: place, encoding: 'utf8' }).stdout).toBe(
      'function function function\n',
    )
  })

  test('is small: no other package, few files, no maps, and declarations only of its entries', () => {
    const files = filesOf(installed)
    expect(readdirSync(join(place, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['cordon'])
    expect(packedFiles().length).toBeLessThanOrEqual(300)
    expect(files.filter((name) => name.endsWith('.map'))).toEqual([])
    expect(files.filter((name) => name.endsWith('.d.ts') && !name.startsWith('dist/types/'))).toEqual([])
    const bytes = files.reduce((sum, name) => sum + statSync(join(installed, name)).size, 0)
    expect(bytes).toBeLessThan(8_000_000)
  })

  test('with install scripts switched off: the first run says how to build the launcher', () => {
    // Exactly what the script made goes. A second installation would take as long as everything else here.
    const known = new Set(packedFiles())
    const made = filesOf(installed).filter((name) => !known.has(name))
    expect(made.map((name) => name.replace(/\.[0-9a-f]{16}\./, '.*.')).toSorted()).toEqual([
      'build/cordon-cell',
      'build/cordon-cell.stamp',
      'dist/bundle/main.cjs.*.command-line.cache',
      'dist/bundle/main.cjs.*.library.cache',
    ])
    for (const name of [...made, 'build']) rmSync(join(installed, name), { recursive: true })
    const refused = run(place)
    expect(refused.status).toBe(125)
    expect(refused.stderr).toMatch(/^cordon: launcher-missing: .*\nfix: run `npm rebuild cordon` .*a C compiler/)
  })

  // The script of the installation is then run by npm rebuild, as npm install would run it.
  test('the script without a compiler and prebuilt launcher says what is missing and what to do', () => {
    const { status, output } = rebuild(bare)
    expect(status).not.toBe(0)
    expect(output).toContain(`no working C compiler and no prebuilt launcher for ${process.arch}`)
    expect(output).toContain(
      'install a compiler (apt-get install gcc libc6-dev) or the prebuilt launcher (npm install ' +
        `${LAUNCHER_PACKAGE}), then run this again`,
    )
  })

  test('the script without a compiler uses the prebuilt launcher', () => {
    const launcher = join(place, 'node_modules', LAUNCHER_PACKAGE)
    mkdirSync(join(launcher, 'bin'), { recursive: true })
    copyFileSync(join(CORE, 'build', 'cordon-cell'), join(launcher, 'bin', 'cordon-cell'))
    writeFileSync(join(launcher, 'package.json'), JSON.stringify({ name: LAUNCHER_PACKAGE, version: '0.1.0' }))
    const { status, output } = rebuild(bare)
    expect(status, output).toBe(0)
    expect(readdirSync(installed)).not.toContain('build')
    expect(run(place)).toEqual({ status: 0, stdout: 'ran\n', stderr: '' })
    rmSync(launcher, { recursive: true })
  })

  test('the script with a compiler builds the launcher', () => {
    const { status, output } = rebuild(SYSTEM)
    expect(status, output).toBe(0)
    expect(readdirSync(installed)).toContain('build')
    expect(run(place)).toEqual({ status: 0, stdout: 'ran\n', stderr: '' })
  })
})
