import { execFileSync } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, onTestFinished, test } from 'vitest'

import { has } from '../egress/programs.js'
import { needs } from '../../../../test/requirement.js'

import { cordonBeside, temporaryFolder } from './cordon.js'
import type { Ran } from './cordon.js'
import { startNpmRegistry, startPipIndex } from './package-registries.js'

const folder = temporaryFolder()
const place = (name: string): string => mkdtempSync(join(folder, `${name}-`))
const FORMS = ['namespaces', 'landlock']

/** The address of the registry that npm is configured for here. */
const npmRegistry = (): URL => {
  const stdout = execFileSync('npm', ['config', 'get', 'registry'], { cwd: folder, encoding: 'utf8' })
  return new URL(stdout.trim())
}

/** The address of a public host here. It may be that of a mirror, with an authority of its own. */
const wayTo = async (host: string): Promise<readonly string[] | undefined> => {
  const { CORDON_TESTS_AUTHORITIES: authorities } = process.env
  const found = await lookup(host).catch(() => undefined)
  if (found === undefined) return undefined
  return ['--resolve', `${host}=${found.address}`, ...(authorities === undefined ? [] : ['--upstream-ca', authorities])]
}

const run = (form: string, cwd: string, ...words: readonly string[]): Promise<Ran> =>
  cordonBeside(['run', '--form', form, '--timeout', '100s', ...words], { cwd })

const INSTALL = ['npm', 'install', '--no-save', '--no-package-lock', '--fetch-retries', '0']
const PIP_INSTALL = ['/usr/bin/python3', '-m', 'pip', 'install', '--no-cache-dir', '--target', 'out']
const AWAY = /ECONNREFUSED|ETIMEDOUT|502 Bad Gateway|upstream-unreachable|upstream-unresolved/

describe('a real package', () => {
  test.for(FORMS)('is installed by npm from a registry that an option names (%s)', async (form, context) => {
    const { hostname, href } = npmRegistry()
    const way = await wayTo(hostname)
    needs(context, way !== undefined, 'the registry of npm cannot be reached')
    const project = place('npm')
    const grants = ['--policy', 'npm', '--net', hostname, '--env', `npm_config_registry=${href}`, '--write', '.']
    const words = [...grants, ...(way ?? []), '--', ...INSTALL, 'is-number@7.0.0']
    const { status, stdout, stderr } = await run(form, project, ...words)
    needs(context, status === 0 || !AWAY.test(stderr), 'the registry of npm cannot be reached')
    expect({ status, stdout: /added 1 package/.test(stdout), stderr }).toEqual({ status: 0, stdout: true, stderr: '' })
    expect(JSON.parse(readFileSync(join(project, 'node_modules/is-number/package.json'), 'utf8'))).toMatchObject({
      name: 'is-number',
      version: '7.0.0',
    })
  })

  // Whoever is root would be made another user by apt, which nobody can become in a cell.
  const DOWNLOAD = 'apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=0 download hello'
  const NO_MIRROR = /Could not (?:resolve|connect)|Unable to connect|Connection (?:failed|timed out)|50[234] +\S/
  const NO_LISTS = /Unable to locate package|No packages found|Can't select candidate version/
  const OTHER_MIRROR = /403 +Forbidden/

  test.for(FORMS)(
    'is loaded by apt from the public mirror, unpacked and run, by the bundled policy (%s)',
    async (form, context) => {
      needs(context, has('apt-get') && has('dpkg-deb'), 'apt is not installed')
      const way = await wayTo('deb.debian.org')
      needs(context, way !== undefined, 'the public mirror of Debian cannot be reached')
      const script = `${DOWNLOAD} && dpkg-deb -x hello_*.deb root && ./root/usr/bin/hello`
      const grants = ['--policy', 'apt', ...(way ?? []), '--read', '.', '--write', '.']
      const { status, stdout, stderr } = await run(form, place('apt'), ...grants, '--', 'sh', '-c', script)
      const told = stdout + stderr
      needs(context, status === 0 || !NO_LISTS.test(stderr), 'apt has no lists of packages here; run: apt-get update')
      needs(context, status === 0 || !NO_MIRROR.test(told), 'the public mirror of Debian cannot be reached')
      needs(context, status === 0 || !OTHER_MIRROR.test(told), 'apt is configured for another mirror here')
      expect({ status, stdout: /Hello, world!/.test(stdout), stderr }).toMatchObject({ status: 0, stdout: true })
    },
  )
})

describe('a private registry', () => {
  test.each(FORMS)('of npm works if a policy names its host, and nothing can be sent to it (%s)', async (form) => {
    const registry = await startNpmRegistry(place('registry'), 'own-package')
    onTestFinished(() => registry.close())
    const project = place('npm')
    const host = `127.0.0.1:${String(registry.port)}`
    const policy = join(project, 'registry.yaml')
    writeFileSync(
      policy,
      `network: [ { host: "${host}", methods: [ GET, HEAD ] } ]\n` +
        `environment: [ "npm_config_registry=http://${host}/npm/", npm_config_audit=false ]\n`,
    )
    const installed = await run(form, project, '--policy', policy, '--write', '.', '--', ...INSTALL, 'own-package')
    expect(installed).toMatchObject({ status: 0, stderr: '' })
    expect(readFileSync(join(project, 'node_modules/own-package/index.js'), 'utf8')).toContain('from the registry')
    expect(registry.requests).toContain('GET /npm/own-package')
    const script =
      'curl -sS --noproxy "*" http://example.org/; curl -sS -o /dev/null -w "%{http_code}" -X PUT -d x ' +
      '"$npm_config_registry"'
    expect((await run(form, project, '--policy', policy, '--', 'sh', '-c', script)).stdout).toBe('403')
    expect(registry.requests.filter((request) => !request.startsWith('GET'))).toEqual([])
  })

  test.each(FORMS)('of pip works if an option names its host (%s)', async (form) => {
    expect(has('python3')).toBe(true)
    const index = await startPipIndex(place('index'), 'own_package')
    onTestFinished(() => index.close())
    const project = place('pip')
    const host = `127.0.0.1:${String(index.port)}`
    const variables = ['--env', `PIP_INDEX_URL=http://${host}/own/simple/`, '--env', 'PIP_CONFIG_FILE=/dev/null']
    const words = ['--net', host, ...variables, '--write', '.', '--', ...PIP_INSTALL, 'own_package']
    const { status, stderr } = await run(form, project, ...words)
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
    expect(readFileSync(join(project, 'out/own_package.py'), 'utf8')).toContain('from the index')
  })

  test.each(FORMS)('that only the project names is not reached (%s)', async (form) => {
    const registry = await startNpmRegistry(place('registry'), 'own-package')
    onTestFinished(() => registry.close())
    const project = place('project')
    writeFileSync(join(project, '.npmrc'), `registry=http://127.0.0.1:${String(registry.port)}/npm/\n`)
    const words = ['--policy', 'npm', '--net', 'npm.example.org', '--write', '.', '--', ...INSTALL, 'own-package']
    expect((await run(form, project, ...words)).status).not.toBe(0)
    expect(existsSync(join(project, 'node_modules/own-package'))).toBe(false)
    expect(registry.requests).toEqual([])
  })
})
