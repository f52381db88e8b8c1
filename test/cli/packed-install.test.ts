// The package as npm packs it, installed into an empty folder, with and without a compiler.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { beforeEach, describe, expect, test } from 'vitest'

import { needs } from '../requirement.js'
import { temporaryFolder } from './cordon.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LAUNCHER_PACKAGE = `@cordon/launcher-linux-${process.arch}`
const folder = temporaryFolder()

const onPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '').split(delimiter).flatMap((place) => {
    try {
      return [realpathSync(join(place, name))]
    } catch {
      return []
    }
  })[0]

const npmProgram = onPath('npm')

/** A PATH with what npm itself needs, and no compiler. */
const bare = join(folder, 'bare')
mkdirSync(bare)
symlinkSync(process.execPath, join(bare, 'node'))
symlinkSync(realpathSync('/bin/sh'), join(bare, 'sh'))

const npm = (words: readonly string[], cwd: string, path: string) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [npmProgram ?? '', ...words, '--offline', '--no-audit', '--no-fund', '--no-update-notifier'],
    {
      cwd,
      env: { PATH: path, HOME: folder, npm_config_cache: join(folder, 'cache'), npm_config_loglevel: 'error' },
      encoding: 'utf8',
      timeout: 600_000,
    },
  )
  return { status, output: `${stdout}${stderr}` }
}

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

/** The package itself, as npm packs it. */
const packOwn = (): string => {
  mkdirSync(packed)
  const { status, output } = npm(['pack', ROOT, '--ignore-scripts', '--pack-destination', packed], ROOT, SYSTEM)
  expect(status, output).toBe(0)
  return ownArchive()
}

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

/** What it needs, as npm takes it. Not compressed: that takes longer than everything else that npm does with it. */
const packNeeded = (sources: readonly string[]): readonly string[] => {
  const to = mkdtempSync(join(folder, 'needed-'))
  return sources.map((source, index) => {
    const archive = join(to, `${String(index)}.tgz`)
    execFileSync('tar', ['-C', source, '--transform=s,^\\.,package,', '--exclude=./node_modules', '-cf', archive, '.'])
    return archive
  })
}

/** Everything that the package needs at run time, so that no registry is asked. */
const dependenciesOf = (place: string, seen: Set<string>): ReadonlySet<string> => {
  const { dependencies = {} } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  for (const name of Object.keys(dependencies)) {
    if (seen.has(name)) continue
    seen.add(name)
    dependenciesOf(join(ROOT, 'node_modules', name), seen)
  }
  return seen
}

const placeOf = (name: string): string => join(ROOT, 'node_modules', name)

/** The packages of the store. `cordon run` uses none, and where they are empty npm takes a fraction of the time. */
const OF_THE_STORE = ['@electric-sql/pglite', 'pg']

/** A package by its name and version, with nothing in it. */
const emptied = (name: string): string => {
  const place = join(folder, 'emptied', name)
  const { version } = JSON.parse(readFileSync(join(placeOf(name), 'package.json'), 'utf8')) as { version: string }
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version }))
  return place
}

/** Everything that npm is given besides the package itself. */
const packAllNeeded = (): readonly string[] => {
  const ofTheStore = new Set([
    ...OF_THE_STORE,
    ...OF_THE_STORE.flatMap((name) => [...dependenciesOf(placeOf(name), new Set())]),
  ])
  const needed = [...dependenciesOf(ROOT, new Set())]
  return packNeeded(needed.map((name) => (ofTheStore.has(name) ? emptied(name) : placeOf(name))))
}

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
    const { status, output } = npm(['install', packOwn(), ...packAllNeeded()], place, SYSTEM)
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

  test('with install scripts switched off: the first run says how to build the launcher', () => {
    // Exactly what the script made goes. A second installation would take as long as everything else here.
    const known = new Set(packedFiles())
    const made = filesOf(installed).filter((name) => !known.has(name))
    expect(made.map((name) => name.replace(/[0-9a-f]{16}\.cache$/, '*.cache')).toSorted()).toEqual([
      'build/cordon-cell',
      'build/cordon-cell.stamp',
      'dist/bundle/command-line/main.cjs.*.cache',
      'dist/bundle/library/main.cjs.*.cache',
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
    copyFileSync(join(ROOT, 'build', 'cordon-cell'), join(launcher, 'bin', 'cordon-cell'))
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
