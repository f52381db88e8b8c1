// A Cordon that is installed in the project which its cells may write.
import { spawnSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { installPackage, makeCheckout, makeNative } from '../../../../test/installed-package.js'
import { quotedWord } from '../../src/platform/shell-word.js'

let root = ''
let project = ''
let command = ''
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-own-program-')))
  project = join(root, 'project')
  mkdirSync(join(root, 'home'))
  command = installPackage(project)
})
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
})

const environment = () => ({ PATH: '/usr/local/bin:/usr/bin:/bin', HOME: join(root, 'home'), CORDON_HOST: 'off' })

const run = (form: string, line: string, started: readonly string[] = [command], cwd = project) => {
  const [program = '', ...words] = started
  const { status, stdout, stderr } = spawnSync(
    program,
    [...words, 'run', '--form', form, '--mode', 'never', '--write', '.', '--', '/bin/bash', '-c', line],
    { cwd, encoding: 'utf8', env: environment() },
  )
  return { status, stdout, stderr }
}

const PROGRAM = 'node_modules/cordon/bin/cordon.js'
const { version: VERSION } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

describe.each(['namespaces', 'landlock'])('in the form %s', (form) => {
  test.each([
    ['its program', `echo '// planted' >> ${PROGRAM}`],
    ['its code cache', 'echo planted > node_modules/cordon/dist/bundle/main.cjs.0.command-line.cache'],
    ['a package that it loads', `echo '// planted' >> node_modules/@cordon/mcp/package.json`],
    ['a package that the agent loads', `echo '// planted' >> node_modules/@cordon/adapters/dist/bundle/ai.js`],
    ['what that package loads', `echo '// planted' >> node_modules/smol-toml/package.json`],
    ['a package that it would load', 'mkdir node_modules/@cordon/team'],
    ['a module in its own folder', 'mkdir -p node_modules/cordon/node_modules/@cordon/team'],
    ['the core that a package around it loads', 'mkdir -p node_modules/@cordon/node_modules/cordon'],
    ['its folder, by another one', 'mv node_modules/cordon node_modules/other'],
    ['the folder above it', 'mv node_modules other'],
  ])('a command cannot replace %s', (_, line) => {
    expect(run(form, line).status).not.toBe(0)
    expect(readFileSync(join(project, PROGRAM), 'utf8')).not.toContain('planted')
    expect(run(form, 'echo still here').stdout).toBe('still here\n')
  })

  test('a command reads the program, and writes beside it', () => {
    const { status, stdout } = run(form, `head -c 2 ${PROGRAM} && touch node_modules/made node_modules/.bin/made`)
    expect({ status, stdout }).toEqual({ status: 0, stdout: '#!' })
  })

  test('a link in .bin that a command replaces is put back', () => {
    run(form, 'ln -sf ../planted node_modules/.bin/cordon')
    expect(readlinkSync(command)).toBe('../cordon/bin/cordon')
    const { stderr } = run(form, 'rm node_modules/.bin/cordon')
    expect(stderr).not.toContain('carve-out')
    expect(stderr).toMatch(/belongs to Cordon itself|is a file of Cordon itself/)
    expect(readlinkSync(command)).toBe('../cordon/bin/cordon')
  })

  test('a command that pnpm wrote as a script cannot be changed or made anew', IN_MATRIX, () => {
    const program = '"$basedir/../cordon/bin/cordon" "$@"'
    const script = `#!/bin/sh
basedir=$(dirname "$0")
if [ -x "$basedir/node" ]; then exec "$basedir/node" ${program}; else exec node ${program}; fi
`
    rmSync(command)
    writeFileSync(command, script, { mode: 0o755 })
    const changed = run(form, 'echo planted >> node_modules/.bin/cordon')
    const moved = run(form, 'mv node_modules/.bin node_modules/old')
    const replaced = run(form, 'rm node_modules/.bin/cordon')
    const preferred = run(form, 'echo planted > node_modules/.bin/node')
    const isPreferred = existsSync(join(dirname(command), 'node'))
    const beside = run(form, 'touch node_modules/.bin/beside')
    const after = readFileSync(command, 'utf8')
    rmSync(command)
    symlinkSync('../cordon/bin/cordon', command)
    expect([changed.status, moved.status, replaced.status, preferred.status]).not.toContain(0)
    expect(isPreferred).toBe(false)
    expect(beside.status).toBe(0)
    expect(after).toBe(script)
  })

  test('where the command is missing, none can be made in its place', () => {
    rmSync(command)
    const node = [process.execPath, join(project, PROGRAM)]
    const made = run(form, 'echo planted > node_modules/.bin/cordon', node)
    const isMade = existsSync(command)
    const beside = run(form, 'echo other > node_modules/.bin/other', node)
    rmSync(command, { force: true })
    symlinkSync('../cordon/bin/cordon', command)
    expect({ status: made.status, isMade, beside: beside.status }).toEqual({ status: 125, isMade: false, beside: 0 })
  })

  test.each([
    ['renamed', 'mv node_modules/.bin node_modules/old'],
    ['removed', 'rm -r node_modules/.bin'],
    ['replaced by a link', 'mkdir evil; mv node_modules/.bin node_modules/old && ln -s ../evil node_modules/.bin'],
  ])('the folder of the command cannot be %s', (_, line) => {
    expect(run(form, line).status).not.toBe(0)
    const twin = run(form, 'mkdir node_modules/.other && mv node_modules/.other other && rmdir other')
    rmSync(join(project, 'evil'), { recursive: true, force: true })
    expect(readlinkSync(command)).toBe('../cordon/bin/cordon')
    expect(twin.status).toBe(0)
  })

  test('in a project that links to the package, its folders stay, and others can be made beside', IN_MATRIX, () => {
    const linked = join(root, `linked-${form}`)
    const own = join(linked, 'node_modules', 'cordon')
    mkdirSync(join(linked, 'node_modules', '.bin'), { recursive: true })
    symlinkSync(join(project, 'node_modules', 'cordon'), own)
    symlinkSync('../cordon/bin/cordon', join(linked, 'node_modules', '.bin', 'cordon'))
    const started = [join(linked, 'node_modules', '.bin', 'cordon')]
    const elsewhere = [command]
    const moved = run(form, 'mkdir ev; mv node_modules nm && ln -s ev node_modules', started, linked)
    const byOther = run(form, 'mv node_modules nm', elsewhere, linked)
    run(form, 'rm node_modules/cordon; ln -s ../ev node_modules/cordon', elsewhere, linked)
    const beside = run(form, 'mkdir node_modules/beside', started, linked)
    expect([moved.status, byOther.status]).not.toContain(0)
    expect(readlinkSync(own)).toBe(join(project, 'node_modules', 'cordon'))
    expect({ status: beside.status, isMade: existsSync(join(linked, 'node_modules', 'beside')) }).toEqual({
      status: 0,
      isMade: true,
    })
  })

  test('a link on the way from the command to the package is put back, and one beside it can be changed', () => {
    const folder = join(root, `chain-${form}`)
    mkdirSync(folder)
    symlinkSync(join(project, PROGRAM), join(folder, 'cordon'))
    symlinkSync(join(project, PROGRAM), join(folder, 'other'))
    symlinkSync(join(folder, 'cordon'), join(root, `start-${form}`))
    const started = [join(root, `start-${form}`)]
    run(form, 'ln -sf evil cordon', started, folder)
    const twin = run(form, 'ln -sf evil other', started, folder)
    expect(readlinkSync(join(folder, 'cordon'))).toBe(join(project, PROGRAM))
    expect({ status: twin.status, leads: readlinkSync(join(folder, 'other')) }).toEqual({ status: 0, leads: 'evil' })
  })

  test('a protected folder that is a link on the way to the command stays protected', () => {
    const home = join(root, `dotfiles-${form}`)
    mkdirSync(join(home, '.local'), { recursive: true })
    mkdirSync(join(home, 'dotfiles', 'bin'), { recursive: true })
    symlinkSync('../dotfiles/bin', join(home, '.local', 'bin'))
    symlinkSync(join(project, PROGRAM), join(home, 'dotfiles', 'bin', 'cordon'))
    const started = [join(home, '.local', 'bin', 'cordon')]
    const { status } = run(form, 'echo planted > dotfiles/bin/node', started, home)
    const twin = run(form, 'echo other > dotfiles/node', started, home)
    expect(existsSync(join(home, 'dotfiles', 'bin', 'node'))).toBe(false)
    expect([status === 0, twin.status === 0]).toEqual([false, true])
  })

  test('node cannot be made beside the command, whose folder may stand first in PATH', () => {
    const prefix = join(root, `prefix-${form}`)
    const started = [installPackage(join(prefix, 'lib'))]
    mkdirSync(join(prefix, 'bin'))
    symlinkSync('../lib/node_modules/cordon/bin/cordon.js', join(prefix, 'bin', 'cordon'))
    for (const [line, command] of [
      ['echo planted > bin/node', join(prefix, 'bin', 'cordon')],
      ['echo planted > lib/node_modules/.bin/node', started[0] ?? ''],
    ] as const)
      expect(run(form, line, [command], prefix).status).toBe(125)
    const twin = run(form, 'echo other > bin/other; echo other > lib/node', [join(prefix, 'bin', 'cordon')], prefix)
    expect([existsSync(join(prefix, 'bin', 'node')), twin.status]).toEqual([false, 0])
  })

  test('node beside the command stays as a package installed it', IN_MATRIX, () => {
    const own = join(root, `node-package-${form}`)
    const started = [installPackage(own)]
    const [link, program] = ['.bin/node', 'node/bin/node'].map((name) => join(own, 'node_modules', name))
    mkdirSync(join(own, 'node_modules', 'node', 'bin'), { recursive: true })
    writeFileSync(program ?? '', 'the program\n')
    symlinkSync('../node/bin/node', link ?? '')
    run(form, 'ln -sf evil node_modules/.bin/node', [process.execPath, ...started], own)
    run(form, 'echo planted > node_modules/node/bin/node', [process.execPath, ...started], own)
    const twin = run(form, 'echo other > node_modules/node/bin/other', [process.execPath, ...started], own)
    expect([readlinkSync(link ?? ''), readFileSync(program ?? '', 'utf8')]).toEqual([
      '../node/bin/node',
      'the program\n',
    ])
    expect(twin.status).toBe(0)
  })

  test('a package that a linked one would load cannot be made', IN_MATRIX, () => {
    const own = join(root, `npm-link-${form}`)
    const linked = join(root, `source-${form}`, 'mcp')
    const started = [installPackage(own)]
    const place = join(own, 'node_modules', '@cordon', 'mcp')
    mkdirSync(join(dirname(linked), 'node_modules'), { recursive: true })
    renameSync(place, linked)
    symlinkSync(linked, place)
    const { dependencies } = JSON.parse(readFileSync(join(linked, 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>
    }
    const [needed = ''] = Object.keys(dependencies)
    const modules = join(dirname(linked), 'node_modules')
    run(form, `mkdir -p ${needed}`, started, modules)
    const isMade = existsSync(join(modules, needed))
    const twin = run(form, 'mkdir left-pad', started, modules)
    expect({ needed: needed !== '', isMade, twin: twin.status }).toEqual({ needed: true, isMade: false, twin: 0 })
  })

  test('a package of its name that needs very many others holds up no command', IN_MATRIX, () => {
    const other = join(root, 'other')
    const needs = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`package-${String(at)}`, '*']))
    mkdirSync(join(other, 'node_modules', 'cordon'), { recursive: true })
    writeFileSync(join(other, 'node_modules', 'cordon', 'package.json'), JSON.stringify({ dependencies: needs }))
    const { status, stdout } = run(form, 'echo made > made; cat made', [command], other)
    rmSync(other, { recursive: true })
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'made\n' })
  })

  test('a package that Cordon would load cannot be made where a link of its scope leads', () => {
    const elsewhere = join(root, `elsewhere-${form}`)
    const own = join(root, `scoped-${form}`)
    const started = [installPackage(own)]
    mkdirSync(elsewhere)
    renameSync(join(own, 'node_modules', '@cordon'), join(elsewhere, 'scope'))
    symlinkSync(join(elsewhere, 'scope'), join(own, 'node_modules', '@cordon'))
    run(form, 'mkdir scope/team', started, elsewhere)
    const isMade = existsSync(join(elsewhere, 'scope', 'team'))
    const twin = run(form, 'mkdir scope/other', started, elsewhere)
    expect({ isMade, twin: twin.status }).toEqual({ isMade: false, twin: 0 })
  })

  test.each([
    ['an optional package', 'mkdir -p made && mv made node_modules/@cordon/team', '@cordon/team'],
    ['one in a scope', 'mkdir -p made/api && mv made node_modules/@opentelemetry', '@opentelemetry/api'],
    ['a file that hides a package', 'echo planted > node_modules/@cordon/team.js', '@cordon/team.js'],
  ])('%s that Cordon would load cannot be made', (_, line, name) => {
    const { stderr } = run(form, line)
    const isMade = existsSync(join(project, 'node_modules', name))
    const twin = run(form, 'mkdir -p node_modules/@other/api && touch node_modules/left-pad.js')
    for (const made of ['@cordon/team', '@cordon/team.js', '@opentelemetry', '@other', 'left-pad.js', 'made'])
      rmSync(join(project, 'node_modules', made), { recursive: true, force: true })
    expect({ isMade, twin: twin.status }).toEqual({ isMade: false, twin: 0 })
    expect(stderr).toContain('Cordon would load it: install it outside of a cell')
  })

  test('a folder that is named like one of its packages in a checkout is never loaded', () => {
    const planted = join(root, `planted-${form}`)
    const folder = join(project, 'node_modules', 'team')
    const files = {
      'package.json': `{"name":"@cordon/team","version":"${VERSION}","exports":{"./commands":{"default":"./x.cjs"}}}`,
      'x.cjs': `require('fs').writeFileSync('${planted}', ''); exports.PRODUCT = { commands: {} }`,
    }
    const lines = Object.entries(files).map(([name, text]) => `echo ${quotedWord(text)} > node_modules/team/${name}`)
    const { status } = run(form, ['mkdir node_modules/team', ...lines].join(' && '))
    for (const words of [
      ['why', 'last'],
      ['log', 'show'],
      ['explain', 'fs-escape'],
      ['team', '--help'],
    ])
      spawnSync(command, words, { cwd: project, env: { PATH: '/usr/bin:/bin', HOME: join(root, 'home') } })
    const isLoaded = existsSync(planted)
    rmSync(folder, { recursive: true })
    expect({ status, isLoaded }).toEqual({ status: 0, isLoaded: false })
  })

  test.each([
    ['its command', 'mkdir -p node_modules/.bin && echo planted > node_modules/.bin/cordon', '.bin/cordon'],
    ['a package of its name', 'mkdir -p made node_modules && mv made node_modules/cordon', 'cordon'],
  ])('in a project without Cordon, %s cannot be made', (_, line, name) => {
    const other = join(root, 'other')
    mkdirSync(other)
    const { stderr } = run(form, line, [command], other)
    const isMade = existsSync(join(other, 'node_modules', name))
    const twin = run(
      form,
      'mkdir -p node_modules/.bin node_modules/left-pad && touch node_modules/.bin/x',
      [command],
      other,
    )
    rmSync(other, { recursive: true })
    expect({ isMade, twin: twin.status }).toEqual({ isMade: false, twin: 0 })
    expect(stderr).toContain('npx cordon would start it: install it outside of a cell')
  })

  // Only the end of the call by Cordon ends the wait.
  test.each([
    ['in a folder that is moved', 'mkdir -p made/.bin; echo planted > made/.bin/cordon; mv made node_modules'],
    ['behind a link', 'mkdir -p made/.bin; echo planted > made/.bin/cordon; ln -s made node_modules'],
    ['behind a moved link', 'mkdir -p made moved; touch made/cordon; ln -s ../made moved/.bin; mv moved node_modules'],
  ])('its command is not there for a moment, %s', (_, line) => {
    const other = join(root, 'other')
    mkdirSync(other)
    const { status, stdout } = run(form, `${line}; sleep 60; cat node_modules/.bin/cordon`, [command], other)
    const isMade = existsSync(join(other, 'node_modules', '.bin', 'cordon'))
    const twin = run(form, 'mkdir -p left/pad; mv left other; ln -s other link; cat link/pad/x', [command], other)
    rmSync(other, { recursive: true })
    expect({ status, stdout, isMade, twin: twin.status }).toEqual({ status: 125, stdout: '', isMade: false, twin: 1 })
  })

  test.each([
    ['a file', 'echo > node_modules'],
    ['a link to itself', 'mkdir node_modules; ln -s cordon node_modules/cordon'],
    ['a closed folder', 'mkdir node_modules; chmod 000 node_modules'],
  ])('%s where packages are looked for holds up nothing', (_, line) => {
    const other = join(root, 'other')
    const inner = join(other, 'inner')
    mkdirSync(inner, { recursive: true })
    run(form, `cd inner; ${line}`, [command], other)
    const { status, stdout } = run(form, 'echo made > made; cat made', [command], inner)
    rmSync(other, { recursive: true })
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'made\n' })
  })

  test('a pipe in place of the manifest of a package in the project holds up nothing', () => {
    const other = join(root, 'other')
    mkdirSync(join(other, 'node_modules', 'cordon'), { recursive: true })
    spawnSync('mkfifo', [join(other, 'node_modules', 'cordon', 'package.json')])
    const { status, stdout } = run(form, 'echo made > made; cat made', [command], other)
    rmSync(other, { recursive: true })
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'made\n' })
  })

  test('in a checkout a command changes the sources, and nothing that runs', () => {
    const checkout = join(root, `checkout-${form}`)
    const started = [process.execPath, makeCheckout(checkout)]
    const changed = run(form, 'touch packages/core/src/made packages/core/made && echo done', started, checkout)
    const broken = ['packages/core/dist/made', 'packages/core/bin/made', 'packages/team/made', 'packages/core/sql/made']
    const statuses = broken.map(
      (path) => run(form, `mkdir -p ${dirname(path)}; touch ${path}`, started, checkout).status,
    )
    run(form, 'ln -sfn ../made node_modules/cordon', started, checkout)
    expect(changed.stdout).toBe('done\n')
    expect(statuses).not.toContain(0)
    expect(broken.filter((path) => existsSync(join(checkout, path)))).toEqual([])
    expect(readlinkSync(join(checkout, 'node_modules', 'cordon'))).toBe('../packages/core')
  })

  test('removing all packages fails, and says why', IN_MATRIX, () => {
    const { status, stderr } = run(form, 'rm -rf node_modules')
    expect(status).not.toBe(0)
    expect(stderr).toContain('is a file of Cordon itself (what Cordon runs from)')
    // One line for all packages, and not one for each of their files.
    const said = stderr
      .split('\n')
      .filter((line) => line.startsWith('cordon: ') && line.includes('is a file of Cordon'))
    expect(said).toHaveLength(1)
    expect(said[0]).toMatch(/; so are \d+ more that it tried to change$/)
    installPackageAgain()
  })

  test.each([PROGRAM, 'node_modules/smol-toml/package.json'])('a second name of %s cannot be written', (name) => {
    const second = join(project, 'second')
    linkSync(join(project, name), second)
    const { status } = run(form, `echo '// planted' >> second`)
    rmSync(second)
    expect(status).not.toBe(0)
    expect(readFileSync(join(project, name), 'utf8')).not.toContain('planted')
    expect(run(form, 'touch second && rm second').status).toBe(0)
  })
})

describe.each(['namespaces', 'landlock'])('with the native program, in the form %s', (form) => {
  let own = ''
  let started: readonly string[] = []
  beforeAll(() => {
    own = join(root, `native-${form}`)
    started = [installPackage(own)]
    makeNative(own)
  })
  const bytes = (name: string) => readFileSync(join(own, 'node_modules/cordon/bin', name)).toString('latin1')
  const inOwn = (line: string) => run(form, line, started, own)

  test.each([
    ['change it', 'echo planted >> node_modules/cordon/bin/cordon'],
    ['replace it', 'echo planted > made; mv made node_modules/cordon/bin/cordon'],
    ['change what it starts', 'echo planted > node_modules/cordon/bin/cordon.front'],
    ['replace what it starts', 'echo planted > made; mv made node_modules/cordon/bin/cordon.front'],
    ['change its script', 'echo planted >> node_modules/cordon/bin/cordon.js'],
    ['change the launcher', 'echo planted >> node_modules/cordon/build/cordon-cell'],
    ['move its folder', 'mv node_modules/cordon/bin node_modules/cordon/old; mkdir node_modules/cordon/bin'],
  ])('a command cannot %s', (_, line) => {
    const before = ['cordon', 'cordon.front', 'cordon.js'].map(bytes)
    expect(before[0]).toMatch(/^\x7fELF/)
    const { status, stderr } = inOwn(line)
    expect(status, stderr).not.toBe(0)
    expect(['cordon', 'cordon.front', 'cordon.js'].map(bytes)).toEqual(before)
    expect(inOwn('echo beside > node_modules/beside && cat node_modules/beside').stdout).toBe('beside\n')
  })

  test('a link to it that a command replaces is put back', () => {
    inOwn('ln -sf ../planted node_modules/.bin/cordon')
    expect(readlinkSync(started[0] ?? '')).toBe('../cordon/bin/cordon')
    expect(inOwn('ln -s ../other node_modules/.bin/other').status).toBe(0)
  })

  test('a command that a local host runs cannot change it either', async () => {
    const start = (words: readonly string[]) => {
      const env = { ...environment(), CORDON_HOST: '1m' }
      const { status, stdout, stderr } = spawnSync(started[0] ?? '', words, { cwd: own, encoding: 'utf8', env })
      return { status, stdout, stderr }
    }
    const served = () => (JSON.parse(start(['host', 'status', '--json']).stdout) as { served: number } | null)?.served
    const isServed = (line: string) => {
      const before = served()
      const { status } = start(['run', '--mode', 'never', '--write', '.', '--', '/bin/sh', '-c', line])
      return { status, served: (served() ?? 0) - (before ?? 0) }
    }
    await expect.poll(() => isServed('true'), { timeout: 30_000 }).toEqual({ status: 0, served: 1 })
    const before = bytes('cordon.front')
    const changes = ['cordon', 'cordon.front'].map((name) =>
      isServed(`echo planted >> node_modules/cordon/bin/${name}`),
    )
    const twin = isServed('echo beside > node_modules/beside')
    start(['host', 'stop'])
    expect(changes).toEqual(Array.from({ length: 2 }, () => ({ status: expect.any(Number) as number, served: 1 })))
    expect(changes.map(({ status }) => status)).not.toContain(0)
    expect(bytes('cordon.front')).toBe(before)
    expect(twin).toEqual({ status: 0, served: 1 })
  })

  test('the Node that it starts cannot be made where it is gone', () => {
    const front = join(own, 'node_modules/cordon/bin/cordon.front')
    const text = readFileSync(front, 'utf8')
    const gone = join(own, 'versions/22/bin/node')
    writeFileSync(front, text.replace(/\n.*\n/, `\n${gone}\n`))
    const made = inOwn('mkdir -p versions/22/bin; echo planted > versions/22/bin/node')
    const isMade = existsSync(gone)
    inOwn('mkdir -p other/22/bin; echo planted > other/22/bin/node; mv other versions')
    const isMoved = existsSync(gone)
    const twin = inOwn('mkdir -p versions/22/lib && echo beside > versions/22/lib/node && rm -r versions')
    writeFileSync(front, text)
    expect({ isMade, isMoved, twin }).toMatchObject({ isMade: false, isMoved: false, twin: { status: 0 } })
    expect(made.status).not.toBe(0)
    expect(made.stderr).toContain('the command of Cordon would start it')
  })

  test('where it was moved to, it is this package that runs, and not what is at the old place', () => {
    const elsewhere = join(root, `moved-${form}`)
    renameSync(own, elsewhere)
    mkdirSync(join(own, 'node_modules/cordon/bin'), { recursive: true })
    writeFileSync(join(own, 'node_modules/cordon/bin/cordon.js'), 'console.log("planted")')
    const command = [join(elsewhere, 'node_modules/.bin/cordon')]
    const ran = run(form, 'echo ran', command, elsewhere)
    const changed = run(form, 'echo planted >> node_modules/cordon/bin/cordon', command, elsewhere)
    const { stdout } = spawnSync(command[0] ?? '', ['--version'], { env: environment(), encoding: 'utf8' })
    rmSync(own, { recursive: true })
    renameSync(elsewhere, own)
    expect(ran).toEqual({ status: 0, stdout: 'ran\n', stderr: '' })
    expect(changed.status).not.toBe(0)
    expect(stdout).toContain(VERSION)
  })
})

/** What was beside the program is gone. */
const installPackageAgain = (): void => {
  rmSync(join(project, 'node_modules'), { recursive: true, force: true })
  installPackage(project)
}

test('why shows one line for each package that could not be removed', () => {
  run('namespaces', 'rm -r node_modules/smol-toml')
  const { stdout } = spawnSync(command, ['why', 'last'], {
    cwd: project,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', HOME: join(root, 'home') },
  })
  const lines = stdout.split('\n').filter((line) => line.includes('refused write of'))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/, and \d+ more in \S+\/node_modules\/smol-toml \(--json has all\)$/)
})

test('a grant of the package itself is refused with the fix', () => {
  const { status, stdout, stderr } = spawnSync(command, ['run', '--write', 'node_modules/cordon', '--', 'true'], {
    cwd: project,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', HOME: join(root, 'home') },
  })
  expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
  expect(stderr).toContain('own-file-exposed')
  expect(stderr).toContain('npm install -g cordon')
})
