import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { has } from '../egress/programs.js'
import { needs } from '../../../../test/requirement.js'

import { cordon, cordonBeside, temporaryFolder } from './cordon.js'
import { startNpmRegistry, startPipIndex } from './package-registries.js'

const folder = temporaryFolder()
const place = (name: string): string => mkdtempSync(join(folder, `${name}-`))
const FORMS = ['namespaces', 'landlock']

/** As whoever runs the tests has them configured; nothing else of theirs is passed. */
const OWN = Object.fromEntries(
  Object.entries({ ...process.env, NODE_EXTRA_CA_CERTS: process.env['CORDON_TESTS_AUTHORITIES'] }).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      /^(?:HOME|PATH|npm_config_(?:userconfig|globalconfig|registry|cafile)|NODE_EXTRA_CA_CERTS)$/i.test(entry[0]),
  ),
)

const INSTALL = ['npm', 'install', '--no-save', '--no-package-lock', '--fetch-retries', '0']

const NETWORK_IS_AWAY =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|502 Bad Gateway|upstream-unreachable|upstream-unresolved/

describe('a real package', () => {
  test.for(FORMS)(
    'is installed by npm from the configured registry, and from nowhere else (%s)',
    async (form, context) => {
      const project = place('npm')
      const { status, stdout, stderr } = await cordonBeside(
        [
          'run',
          '--form',
          form,
          '--policy',
          'npm',
          '--write',
          '.',
          '--timeout',
          '100s',
          '--',
          ...INSTALL,
          'is-number@7.0.0',
        ],
        { cwd: project, environment: OWN },
      )
      // The registry of the next tests then stands for it.
      needs(
        context,
        status === 0 || !NETWORK_IS_AWAY.test(stderr),
        'the registry that npm is configured for cannot be reached',
      )
      expect({ status, stdout: /added 1 package/.test(stdout), stderr }).toMatchObject({ status: 0, stdout: true })
      expect(JSON.parse(readFileSync(join(project, 'node_modules/is-number/package.json'), 'utf8'))).toMatchObject({
        name: 'is-number',
        version: '7.0.0',
      })
    },
  )
})

describe('a real package of Debian', () => {
  // Whoever is root would be made another user by apt, which nobody can become in a cell.
  const DOWNLOAD = 'apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=0 download hello'
  const AWAY =
    /Could not (?:resolve|connect)|Unable to connect|Connection (?:failed|timed out)|50[234] +\S|Temporary failure/
  const NO_LISTS = /Unable to locate package|No packages found|Can't select candidate version/

  test.for(FORMS)('is loaded by apt from the configured mirror, unpacked and run (%s)', async (form, context) => {
    needs(context, has('apt-get') && has('dpkg-deb'), 'apt is not installed')
    const project = place('apt')
    const { status, stdout, stderr } = await cordonBeside(
      [
        'run',
        '--form',
        form,
        '--policy',
        'apt',
        '--read',
        '.',
        '--write',
        '.',
        '--timeout',
        '100s',
        '--',
        'sh',
        '-c',
        `${DOWNLOAD} && dpkg-deb -x hello_*.deb root && ./root/usr/bin/hello`,
      ],
      { cwd: project },
    )
    needs(context, status === 0 || !NO_LISTS.test(stderr), 'apt has no lists of packages here; run: apt-get update')
    needs(
      context,
      status === 0 || !AWAY.test(stdout + stderr),
      'the Debian mirror that apt is configured for cannot be reached',
    )
    expect({ status, stdout: /Hello, world!/.test(stdout), stderr }).toMatchObject({ status: 0, stdout: true })
  })

  test('reaches only such mirrors', async (context) => {
    needs(context, has('apt-get'), 'apt is not installed')
    const { status, stdout } = await cordonBeside([
      'run',
      '--policy',
      'apt',
      '--',
      'sh',
      '-c',
      'curl -sS --noproxy "*" http://example.org/ || echo refused',
    ])
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'refused\n' })
  })
})

describe('a private registry', () => {
  const home = place('home')

  test.each(FORMS)(
    "of npm is taken from the user's configuration: by http, at a private address, beneath a path (%s)",
    async (form) => {
      const registry = await startNpmRegistry(place('registry'), 'own-package')
      afterAll(() => registry.close())
      // By a name of the loopback, as people write it.
      writeFileSync(join(home, '.npmrc'), `registry=http://localhost:${String(registry.port)}/npm/\n`)
      const project = place('npm')
      const { status, stderr } = await cordonBeside(
        ['run', '--form', form, '--policy', 'npm', '--write', '.', '--', ...INSTALL, 'own-package'],
        { cwd: project, environment: { HOME: home } },
      )
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(readFileSync(join(project, 'node_modules/own-package/index.js'), 'utf8')).toContain('from the registry')
      expect(registry.requests).toContain('GET /npm/own-package')
      // Nothing else is there, and nothing can be sent.
      const other = await cordonBeside(
        [
          'run',
          '--form',
          form,
          '--policy',
          'npm',
          '--',
          'sh',
          '-c',
          'curl -sS --noproxy "*" http://example.org/; curl -sS -o /dev/null -w "%{http_code}" -X PUT -d x ' +
            '"$npm_config_registry"',
        ],
        { environment: { HOME: home } },
      )
      expect(other.stdout).toBe('403')
      expect(registry.requests.filter((request) => !request.startsWith('GET'))).toEqual([])
    },
  )

  test('of a project is ignored: a repository would choose the hosts of its scripts', () => {
    const project = place('project')
    writeFileSync(join(home, '.npmrc'), 'registry=http://127.0.0.1:4873/\n')
    writeFileSync(join(project, '.npmrc'), 'registry=https://evil.example/\n')
    writeFileSync(join(project, 'package.json'), '{}')
    const { status, stdout } = cordon(['policy', 'resolve', 'npm'], { cwd: project, environment: { HOME: home } })
    expect(status).toBe(0)
    expect(stdout).toContain('"127.0.0.1:4873"')
    expect(stdout).not.toContain('evil.example')
  })

  test(
    'with a password in its address, or behind a proxy, is refused with the way out, and the password is told ' +
      'to nobody',
    () => {
      const password = cordon(['run', '--policy', 'pip', '--', 'true'], {
        environment: { HOME: home, PIP_INDEX_URL: 'https://user:hunter2-hunter2@packages.example.org/simple' },
      })
      expect(password).toMatchObject({
        status: 125,
        stderr: expect.stringContaining(
          'client-unreadable: the hosts of pip are not known: its configuration has a user and password in the ' +
            'address of packages.example.org',
        ) as string,
      })
      writeFileSync(join(home, '.npmrc'), 'registry=https://user:hunter2-hunter2@packages.example.org/\n')
      const kept = cordon(['run', '--policy', 'npm', '--', 'true'], { environment: { HOME: home } })
      expect(kept).toMatchObject({
        status: 125,
        stderr: expect.stringContaining('one with a password is not shown') as string,
      })
      for (const { stderr } of [password, kept]) expect(stderr).not.toContain('hunter2')
      writeFileSync(join(home, '.npmrc'), 'https-proxy=http://proxy.example.org:3128\n')
      expect(cordon(['run', '--policy', 'npm', '--', 'true'], { environment: { HOME: home } }).stderr).toContain(
        'it uses a proxy',
      )
    },
  )

  test.each(FORMS)('of pip is taken from pip.conf or PIP_INDEX_URL (%s)', async (form) => {
    expect(has('python3')).toBe(true)
    const index = await startPipIndex(place('index'), 'own_package')
    afterAll(() => index.close())
    const url = `http://127.0.0.1:${String(index.port)}/own/simple/`
    mkdirSync(join(home, '.config', 'pip'), { recursive: true })
    for (const [file, environment] of [
      [`[global]\nindex-url = ${url}\n`, {}],
      ['', { PIP_INDEX_URL: url }],
    ] as const) {
      writeFileSync(join(home, '.config', 'pip', 'pip.conf'), file)
      const project = place('pip')
      const { status, stderr } = await cordonBeside(
        [
          'run',
          '--form',
          form,
          '--policy',
          'pip',
          '--write',
          '.',
          '--',
          '/usr/bin/python3',
          '-m',
          'pip',
          'install',
          '--no-cache-dir',
          '--target',
          'out',
          'own_package',
        ],
        { cwd: project, environment: { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), ...environment } },
      )
      expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
      expect(readFileSync(join(project, 'out/own_package.py'), 'utf8')).toContain('from the index')
    }
  })

  test('of apt is taken from sources.list and from deb822 files', (context) => {
    needs(context, has('apt-get'), 'apt is not installed')
    const etc = place('apt')
    mkdirSync(join(etc, 'parts'))
    writeFileSync(join(etc, 'sources.list'), 'deb [trusted=yes] http://one.example.org:3142/debian stable main\n')
    writeFileSync(
      join(etc, 'parts', 'two.sources'),
      'Types: deb\nURIs: https://two.example.org/debian http://10.1.2.3/more\nSuites: stable\nComponents: ' +
        'main\nTrusted: yes\n',
    )
    writeFileSync(
      join(etc, 'apt.conf'),
      `Dir::Etc::sourcelist "${join(etc, 'sources.list')}";\nDir::Etc::sourceparts "${join(etc, 'parts')}";\n`,
    )
    const { status, stdout, stderr } = cordon(['policy', 'resolve', 'apt', '--json'], {
      environment: { APT_CONFIG: join(etc, 'apt.conf') },
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const lines = (JSON.parse(stdout) as { readonly lines: readonly { readonly text: string }[] }).lines.map(
      ({ text }) => text,
    )
    expect(
      lines
        .filter((line) => line.includes('host:'))
        .map((line) => /host: "?([^",]+)/.exec(line)?.[1])
        .toSorted(),
    ).toEqual(['10.1.2.3', 'one.example.org:3142', 'two.example.org'])
    expect(lines).toContain('    - "!/etc/apt/auth.conf.d"')
  })
})
