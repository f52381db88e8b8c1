// Servers from packages of npm: installed once, pinned, and started without the network.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { IN_MATRIX } from '../../../../test/turns.js'
import { folderWith } from './gateway.js'
import { serverSource, startRegistry } from './local-registry.js'
import type { Published } from './local-registry.js'
import { packagedProject } from './packaged.js'
import type { Lock } from './packaged.js'

const NAME = '@local/server-greet'
const KEY = `npm:${NAME}`
const NPX = ['npx', '-y', NAME]

const GREETING: Published = {
  name: '@local/greeting',
  version: '1.0.0',
  files: { 'index.js': 'module.exports = "hello"\n' },
}
const server = (version: string, answer: string, fields: Readonly<Record<string, unknown>> = {}): Published => ({
  name: NAME,
  version,
  fields: { bin: { 'server-greet': 'server.js' }, dependencies: { '@local/greeting': '^1.0.0' }, ...fields },
  files: { 'server.js': serverSource(answer) },
})
const GREETS = server('1.2.3', '[require("@local/greeting"), ...process.argv.slice(2)].join(" ")')

describe('a package of npm', () => {
  test('is installed once, and later starts need no registry', async () => {
    const registry = await startRegistry(GREETING, GREETS)
    const { call, lock, folders, log, variables } = packagedProject(registry.home)
    expect(await call([...NPX, 'one', '--two'])).toBe('hello one --two')
    const { version, integrity, tree } = lock().packages[KEY] ?? {}
    expect(version).toBe('1.2.3')
    expect(integrity).toMatch(/^sha512-/)
    expect(Object.keys(tree ?? {})).toEqual(['node_modules/@local/greeting', 'node_modules/@local/server-greet'])
    expect(JSON.stringify(lock())).not.toContain('127.0.0.1')
    expect(folders()).toHaveLength(1)
    // Each step of the installation is a run of its own.
    const starts = log()
      .split('\n')
      .filter((line) => line.includes('"session.started"'))
    expect(starts.length).toBeGreaterThanOrEqual(3)
    expect(log()).toContain('npm install')
    await registry.close()
    expect(await call([...NPX, 'again'])).toBe('hello again')
    expect(existsSync(join(variables.HOME, '.npm'))).toBe(false)
  })

  test('stays at its pinned version until cordon mcp update, which names both versions', IN_MATRIX, async () => {
    const registry = await startRegistry(GREETING, GREETS)
    const { call, lock, cordon } = packagedProject(registry.home)
    expect(await call(NPX)).toBe('hello')
    registry.publish(server('2.0.0', '"the second"'))
    expect(await call(NPX)).toBe('hello')
    const dry = await cordon(['mcp', 'update', NAME, '--dry-run'])
    expect(dry).toMatchObject({ status: 0, stdout: `${NAME}: 1.2.3 -> 2.0.0 (not changed)\n` })
    expect(lock().packages[KEY]?.version).toBe('1.2.3')
    expect(await cordon(['mcp', 'update'])).toMatchObject({ status: 0, stdout: `${NAME}: 1.2.3 -> 2.0.0\n` })
    expect(lock().packages[KEY]?.version).toBe('2.0.0')
    await registry.close()
    expect(await call(NPX)).toBe('the second')
    const unknown = await cordon(['mcp', 'update', '@local/server-gret'])
    expect(unknown).toMatchObject({ status: 2, stderr: expect.stringContaining(`did you mean "${NAME}"?`) as string })
  })

  test('that a lock pins is installed exactly so, also where nobody trusts the project', IN_MATRIX, async () => {
    const registry = await startRegistry(GREETING, GREETS)
    const first = packagedProject(registry.home)
    expect(await first.call(NPX)).toBe('hello')
    registry.publish(server('2.0.0', '"the second"'), {
      ...GREETING,
      version: '1.1.0',
      files: { 'index.js': 'throw 1' },
    })
    const second = packagedProject(registry.home, { '.cordon/mcp.lock': readFileSync(first.lockPath, 'utf8') })
    expect(await second.call(NPX)).toBe('hello')
    expect(second.lock()).toEqual(first.lock())
    // Without a lock it is the newest.
    expect(await packagedProject(registry.home).call(NPX)).toBe('the second')
  })

  test.each([
    ['leads out of its folder', `${'../'.repeat(14)}bin/true`, 'its program leads to'],
    ['is missing', 'missing.js', 'it has no program of its name'],
    ['is no text', 5, 'it has no program of its name'],
  ])('whose program %s is not started', async (_, path, problem) => {
    const registry = await startRegistry(GREETING, server('1.0.0', '"never"', { bin: { 'server-greet': path } }))
    const { cordon, gatewayWords } = packagedProject(registry.home)
    expect(await cordon(gatewayWords(NPX))).toMatchObject({
      status: 125,
      stderr: expect.stringContaining(problem) as string,
    })
  })

  test('runs no install script', async () => {
    const registry = await startRegistry(
      GREETING,
      server('1.0.0', 'require("node:fs").existsSync(__dirname + "/ran")', {
        scripts: { preinstall: 'touch ran', install: 'touch ran', postinstall: 'touch ran' },
      }),
    )
    const { call } = packagedProject(registry.home)
    expect(await call(NPX)).toBe('false')
  })

  test('may have files that no tool may create, such as settings of editors and hooks', IN_MATRIX, async () => {
    const names = [
      '.vscode/tasks.json',
      '.husky/pre-commit',
      '.github/workflows/x.yml',
      '.envrc',
      '.claude/settings.json',
    ]
    const files = { ...GREETS.files, ...Object.fromEntries(names.map((name) => [name, '{}'])) }
    const registry = await startRegistry(GREETING, { ...GREETS, files })
    expect(await packagedProject(registry.home).call(NPX)).toBe('hello')
  })

  test('cannot be changed by its server, which reaches no registry either', async () => {
    const attempts = (port: number) => `(() => {
      const { writeFileSync } = require('node:fs')
      try { writeFileSync(__filename, ''); return 'changed' } catch (error) { return error.code }
    })() + ' ' + require('node:child_process').spawnSync(process.execPath, ['-e',
      'fetch("http://127.0.0.1:${String(port)}/x").then(() => console.log("reached"), () => console.log("refused"))',
    ]).stdout`
    const registry = await startRegistry(GREETING)
    registry.publish(server('1.0.0', attempts(registry.port)))
    const { call, cordon, folders, installed, folder } = packagedProject(registry.home)
    expect(await call(NPX)).toMatch(/^(?:EROFS|EACCES) refused\n$/)
    expect(registry.requests.filter((request) => request.endsWith('/x'))).toEqual([])
    const file = join(installed, folders()[0] ?? '', 'planted')
    const granted = ['run', '--write', join(installed, '..', '..'), '--write', folder, '--', 'touch']
    expect((await cordon([...granted, file])).status).not.toBe(0)
    expect(existsSync(file)).toBe(false)
    expect((await cordon([...granted, join(folder, 'twin')])).status).toBe(0)
  })

  test('comes from the registry of the user, whatever the project configures', IN_MATRIX, async () => {
    const [registry, evil] = [await startRegistry(GREETING, GREETS), await startRegistry(server('9.9.9', '"evil"'))]
    const place = `http://127.0.0.1:${String(evil.port)}/`
    const setting = `registry=${place}\n@local:registry=${place}\n`
    const { call } = packagedProject(registry.home, { '.npmrc': setting, 'package.json': '{}' })
    expect(await call(NPX)).toBe('hello')
    expect(evil.requests).toEqual([])
  })

  test('is not installed if the address of the registry has a password, and no output shows the password', async () => {
    const { cordon, gatewayWords, folders, log } = packagedProject(
      folderWith({ '.npmrc': 'registry=https://user:hunter2-hunter2@packages.example.org/\n' }),
    )
    const { status, stderr } = await cordon(gatewayWords(NPX))
    expect(status).toBe(125)
    expect(stderr).toContain('mcp-package-not-installed')
    expect(stderr).toContain('The registry option is protected')
    expect(stderr + log()).not.toContain('hunter2')
    expect(folders()).toEqual([])
  })

  test('is installed once by gateways that start at the same time', IN_MATRIX, async () => {
    const registry = await startRegistry(GREETING, GREETS, { ...GREETS, name: '@local/server-other' })
    const { call, lock, folders } = packagedProject(registry.home)
    const other = ['npx', '@local/server-other']
    expect(await Promise.all([call(NPX), call(NPX), call(other)])).toEqual(['hello', 'hello', 'hello'])
    expect(Object.keys(lock().packages)).toEqual([KEY, 'npm:@local/server-other'])
    expect(folders()).toHaveLength(2)
  })

  test('whose installation was killed does not count', IN_MATRIX, async () => {
    const registry = await startRegistry(GREETING, GREETS)
    const project = packagedProject(registry.home)
    registry.hold()
    const killed = project.start(NPX)
    await expect.poll(() => registry.requests.length).toBeGreaterThan(0)
    killed.kill('SIGKILL')
    expect(project.folders().map((name) => name.replace(/-.*/, ''))).toEqual(['installing'])
    expect(existsSync(project.lockPath)).toBe(false)
    registry.release()
    expect(await project.call(NPX)).toBe('hello')
    expect(project.folders().filter((name) => name.startsWith('npm-'))).toHaveLength(1)
  })
})

describe('a package that is not what the lock pins', () => {
  const pinned = async () => {
    const registry = await startRegistry(GREETING, GREETS)
    const project = packagedProject(registry.home)
    expect(await project.call(NPX)).toBe('hello')
    rmSync(project.installed, { recursive: true })
    const refused = async (change: (lock: Lock) => void) => {
      const lock = project.lock()
      change(lock)
      writeFileSync(project.lockPath, JSON.stringify(lock))
      const { status, stderr } = await project.cordon(project.gatewayWords(NPX))
      expect(status).toBe(125)
      expect(project.folders()).toEqual([])
      return stderr
    }
    return { registry, project, refused }
  }

  test('is refused if the archive or its hash differs', async () => {
    const { registry, project, refused } = await pinned()
    registry.alter('@local/greeting', '1.0.0')
    expect(await refused(() => undefined)).toContain('mcp-package-altered')
    registry.restore()
    expect(await project.call(NPX)).toBe('hello')
  })

  test('is refused if the lock has another package in its tree, and not if it has none', IN_MATRIX, async () => {
    const { registry, project, refused } = await pinned()
    registry.publish({ name: 'evil', version: '1.0.0', files: { 'index.js': 'module.exports = "evil"' } })
    const evil = { version: '1.0.0', integrity: registry.integrityOf('evil', '1.0.0') }
    const at = 'node_modules/@local/greeting'
    const text = readFileSync(project.lockPath, 'utf8')
    expect(
      await refused(({ packages }) => {
        Object.assign(packages[KEY]?.tree ?? {}, { [at]: { ...evil, name: 'evil' } })
      }),
    ).toContain(`${at} is evil, and not @local/greeting`)
    writeFileSync(project.lockPath, text)
    expect(
      await refused(({ packages }) => {
        Object.assign(packages[KEY]?.tree ?? {}, { 'node_modules/evil': evil })
      }),
    ).toContain('mcp-package-altered')
    writeFileSync(project.lockPath, text)
    expect(
      await refused(({ packages }) => {
        Object.assign(packages[KEY]?.tree ?? {}, { 'node_modules/../../../evil': evil })
      }),
    ).toMatch(/mcp-package-altered|mcp-package-not-installed|mcp-lock-invalid/)
    writeFileSync(project.lockPath, text)
    // npm takes this version for the name of another package.
    expect(
      await refused(({ packages }) => {
        Object.assign(packages[KEY]?.tree ?? {}, { [at]: { ...evil, version: 'npm:evil@1.0.0' } })
      }),
    ).toContain('mcp-lock-invalid')
    writeFileSync(project.lockPath, text)
    // A package that its dependent requires must not be left out.
    expect(
      await refused(({ packages }) => {
        const tree = packages[KEY]?.tree ?? {}
        for (const [place, locked] of Object.entries(tree)) {
          if (place === at) Object.assign(locked, { optional: true, integrity: evil.integrity })
          else Object.assign(locked, { dependencies: {}, optionalDependencies: locked['dependencies'] })
        }
      }),
    ).toContain('mcp-package-altered')
    writeFileSync(project.lockPath, text)
    expect(await project.call(NPX)).toBe('hello')
  })
})
