// The package as npm packs it, installed into an empty folder, with and without a compiler.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { statSync, symlinkSync, writeFileSync } from 'node:fs'
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

const commandIn = (place: string): string => join(place, 'node_modules', '.bin', 'cordon')

const cordon = (command: string, words: readonly string[], more: Readonly<Record<string, string>>) => {
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: '/',
    env: { PATH: SYSTEM, HOME: folder, ...more },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

const run = (place: string) => cordon(commandIn(place), ['run', '--', 'echo', 'ran'], { CORDON_HOST: 'off' })

/** `native`: a program. `script`: what is packed. */
const kindOf = (path: string): string =>
  ({ '\x7fELF': 'native', '#!/u': 'script' })[readFileSync(path).toString('latin1', 0, 4)] ?? 'neither'

/** A host of its own serves it, once it has started. */
const expectServed = async (command: string): Promise<void> => {
  const served = () =>
    (JSON.parse(cordon(command, ['host', 'status', '--json'], {}).stdout) as { served: number } | null)?.served ?? 0
  try {
    await expect
      .poll(() => {
        expect(cordon(command, ['run', '--', 'true'], { CORDON_HOST: '1m' })).toEqual(QUIET)
        return served()
      }, HOST_STARTS)
      .toBeGreaterThan(0)
  } finally {
    cordon(command, ['host', 'stop'], {})
  }
}
const QUIET = { status: 0, stdout: '', stderr: '' }
const HOST_STARTS = { timeout: 30_000, interval: 200 }

describe('npm install of the packed package', { timeout: 900_000 }, () => {
  const place = join(folder, 'project')
  const installed = join(place, 'node_modules', 'cordon')
  const program = join(installed, 'bin', 'cordon')
  const rebuild = (path: string) => npm(['rebuild', 'cordon'], place, path)
  const restoreScript = (): void => {
    rmSync(program, { force: true })
    execFileSync('tar', ['-xzf', ownArchive(), '-C', installed, '--strip-components=1', 'package/bin/cordon'])
  }
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
    // The native program is another name of the launcher.
    const sizes = new Map(files.map((name) => statSync(join(installed, name))).map(({ ino, size }) => [ino, size]))
    expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(8_000_000)
  })

  test('puts the native program into its place, which a local host serves', async () => {
    expect(kindOf(commandIn(place))).toBe('native')
    expect(cordon(commandIn(place), ['--version'], {})).toMatchObject({ status: 0, stderr: '' })
    await expectServed(commandIn(place))
  })

  test('does so for everybody too', async () => {
    const prefix = join(folder, 'prefix')
    const { status, output } = npm(['install', '-g', '--prefix', prefix, ownArchive()], folder, SYSTEM)
    expect(status, output).toBe(0)
    const command = join(prefix, 'bin', 'cordon')
    expect(kindOf(command)).toBe('native')
    await expectServed(command)
    rmSync(prefix, { recursive: true })
  })

  test.each([
    ['pnpm', { npm_config_user_agent: 'pnpm/12.21.0 npm/? node/? linux x64' }, undefined],
    ['Yarn', { npm_config_user_agent: 'yarn/4.9.1 npm/? node/v20.0.0 linux x64' }, undefined],
    ['npm in a project of pnpm', { npm_config_user_agent: 'npm/11.0.0' }, '.modules.yaml'],
    ['npm', { npm_config_user_agent: 'npm/11.0.0' }, 'other.yaml'],
  ])('the script of the installation, run by %s, replaces the command only if links lead to it', (who, env, file) => {
    const native = readFileSync(program)
    const mark = file === undefined ? undefined : join(place, 'node_modules', file)
    restoreScript()
    if (mark !== undefined) writeFileSync(mark, '')
    execFileSync(process.execPath, [join(installed, 'scripts', 'write-front.mjs'), '--install'], { env })
    expect(kindOf(program)).toBe(who === 'npm' ? 'native' : 'script')
    expect(run(place)).toEqual({ status: 0, stdout: 'ran\n', stderr: '' })
    if (mark !== undefined) rmSync(mark)
    writeFileSync(`${program}.new`, native, { mode: 0o755 })
    renameSync(`${program}.new`, program)
  })

  test('with install scripts switched off: the first run says how to build the launcher', () => {
    // Exactly what the script made goes. A second installation would take as long as everything else here.
    const known = new Set(packedFiles())
    const made = filesOf(installed).filter((name) => !known.has(name))
    expect(made.map((name) => name.replace(/\.[0-9a-f]{16}\./, '.*.')).toSorted()).toEqual([
      'bin/cordon.front',
      'build/cordon-cell',
      'build/cordon-cell.stamp',
      'dist/bundle/main.cjs.*.command-line.cache',
      'dist/bundle/main.cjs.*.library.cache',
    ])
    rmSync(join(installed, 'build'), { recursive: true })
    const expectMissing = (): void => {
      const refused = run(place)
      expect(refused.status).toBe(125)
      expect(refused.stderr).toMatch(/^cordon: launcher-missing: .*\nfix: run `npm rebuild cordon` .*a C compiler/)
      expect(cordon(commandIn(place), ['--version'], {})).toMatchObject({ status: 0, stderr: '' })
    }
    expect(kindOf(program)).toBe('native')
    expectMissing()
    for (const name of made) rmSync(join(installed, name), { force: true })
    restoreScript()
    expectMissing()
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
    expect(kindOf(program)).toBe('native')
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
