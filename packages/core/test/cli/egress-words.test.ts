// Messages about granted hosts: what is impossible, why, and a fix that works.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { upstreamProblems } from '../../src/run/text/upstream-problems.js'
import type { EgressSummary } from 'cordon'
import { echo, serverAuthority, startHttps } from '../egress/servers.js'

import { cordon, cordonBeside, temporaryFolder } from './cordon.js'
import type { Ran, RunOptions } from './cordon.js'
import { STATE_FOLDER } from './own-folders.js'

const HOST = 'api.test'
const VALUE = 'value-of-a-credential-77aa88bb'
const server = await startHttps(echo, { host: HOST })
afterAll(() => server.close())

const folder = temporaryFolder()
const place = `${HOST}:${String(server.port)}`
const authority = join(folder, 'authority.pem')
writeFileSync(authority, serverAuthority.certificate)
const fileWith = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const token = fileWith('token', `${VALUE}\n`)
const policy = fileWith(
  'service.yaml',
  `network: [ "${place}" ]\ncredentials:\n  - { id: token, inject: { host: "${place}", as: bearer }, ` +
    `placeholder: API_TOKEN }\n`,
)
const WAY = ['--resolve', `${HOST}=127.0.0.1`, '--upstream-ca', authority]
const WITH_TOKEN = ['--policy', policy, '--secret', `token=file:${token}`, ...WAY]

const run = (words: readonly string[], options: RunOptions = {}): Promise<Ran> =>
  cordonBeside(['run', ...words], { cwd: folder, ...options })

describe('a variable that contains the value of a credential', () => {
  test.each([
    ['typed', ['--env', `OTHER=is ${VALUE}`], 'OTHER'],
    ['typed, in base64', ['--env', `OTHER=${Buffer.from(`me:${VALUE}`).toString('base64')}`], 'OTHER'],
    ['passed on', ['--env', 'COPY'], 'COPY'],
    ['of a policy', ['--policy', fileWith('set.yaml', `environment: [ "SET=${VALUE}" ]\n`)], 'SET'],
  ])('is refused by name without quoting the value: %s', async (_, words, variable) => {
    const ran = await run([...WITH_TOKEN, ...words, '--', 'env'], { environment: { COPY: `a ${VALUE}` } })
    expect(ran).toMatchObject({
      status: 125,
      stdout: '',
      stderr: expect.stringContaining(
        `credential-exposed: the variable ${variable} would show the tool the value of the credential "token"`,
      ) as string,
    })
    expect(ran.stderr).toContain(`fix: remove ${variable} from`)
    expect(JSON.stringify(ran)).not.toContain(VALUE)
  })

  test('is found before the decision if the value is in a variable of the host', async () => {
    const ran = await run(
      ['--policy', policy, '--secret', 'token=env:MINE', ...WAY, '--env', 'COPY', '--dry-run', '--', 'env'],
      { environment: { MINE: VALUE, COPY: `a ${VALUE}` } },
    )
    expect(ran).toMatchObject({
      status: 125,
      stderr: expect.stringContaining('credential-exposed: the variable COPY') as string,
    })
  })

  test('is not in the log either', () => {
    expect(cordon(['log', 'show', '--json']).stdout).not.toContain(VALUE)
  })

  test('differs from a variable without it, which reaches the command', async () => {
    expect(await run([...WITH_TOKEN, '--env', 'OTHER=is-fine', '--', 'env'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^OTHER=is-fine$/m) as string,
    })
  })
})

describe('a granted server that cannot be used', () => {
  const why = () => cordon(['why', 'last']).stdout
  test.each([
    [
      'whose authority is not known',
      ['--resolve', `${HOST}=127.0.0.1`],
      place,
      /the certificate of api\.test:\d+ is not trusted: .* add --upstream-ca FILE/,
    ],
    [
      'whose name has no address',
      ['--net', 'nowhere.invalid'],
      'nowhere.invalid',
      /the name nowhere\.invalid cannot be resolved: .*--resolve nowhere\.invalid=ADDRESS/,
    ],
    [
      'that does not answer',
      ['--net', `${HOST}:9`, '--resolve', `${HOST}=127.0.0.1`],
      `${HOST}:9`,
      /api\.test:9 cannot be reached: check that the host is up, or give its address: --resolve api\.test=ADDRESS/,
    ],
  ])('%s is reported with the option that helps, whatever the command prints', async (_, words, at, told) => {
    const ran = await run(['--net', place, ...words, '--', 'curl', '-s', '-o', '/dev/null', `https://${at}/`])
    expect(ran).toMatchObject({ status: 0, stderr: expect.stringMatching(told) as string })
    expect(why()).toMatch(new RegExp(`^problem +${told.source}`, 'm'))
  })

  test('that is an address gets no advice of --resolve, which is for names', () => {
    const reached = (host: string) =>
      upstreamProblems({ hosts: [{ host, port: 9, problems: ['upstream-unreachable'] }] } as unknown as EgressSummary)
    expect([...reached('127.0.0.1'), ...reached('[::1]')]).toEqual(
      ['127.0.0.1:9', '[::1]:9'].map((place) => `${place} cannot be reached: check that the host is up`),
    )
    expect(reached('api.test')[0]).toContain('--resolve api.test=ADDRESS')
  })

  test('works after the advised change', async () => {
    expect(await run(['--net', place, ...WAY, '--', 'curl', '-fsS', '-o', '/dev/null', `https://${place}/`])).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    })
  })

  test.each([
    ['client-certificate', 'is not a certificate and its private key', 'cat client.crt client.key'],
    ['aws-sigv4', 'its value is neither KEY_ID:SECRET nor JSON', 'aws configure export-credentials'],
  ])('is not contacted if the credential is no %s, and why says so', async (as, problem, fix) => {
    const own = fileWith(
      `${as}.yaml`,
      `network: [ "${place}" ]\ncredentials: [ { id: token, inject: { host: "${place}", as: ${as} } } ]\n`,
    )
    const ran = await run([
      '--policy',
      own,
      '--secret',
      `token=file:${token}`,
      ...WAY,
      '--',
      'curl',
      '-s',
      `https://${place}/`,
    ])
    expect(ran).toMatchObject({
      status: 125,
      stdout: '',
      stderr: expect.stringContaining(`credential-unusable: the credential "token" cannot be used: `) as string,
    })
    expect(ran.stderr).toContain(problem)
    expect(why()).toContain(problem)
    expect(why()).toMatch(new RegExp(`^change +.*${fix}`, 'm'))
    expect(why()).not.toContain('add a rule')
  })
})

describe('a run that is refused before the decision', () => {
  test.each([
    ['an unknown policy', ['--policy', 'nosuch'], 'there is no policy named "nosuch"'],
    ['a credential without a value', ['--policy', policy], 'the credential "token" has no value'],
    [
      'a contradiction',
      ['--policy', policy, '--policy', fileWith('denied.yaml', `network: [ { host: "${place}", action: deny } ]\n`)],
      `${place} is denied`,
    ],
  ])('for %s is the last entry in the log', (_, words, problem) => {
    const ran = cordon(['run', ...words, '--', 'echo', 'refused'])
    expect(ran.status).toBe(125)
    expect(ran.stderr).toMatch(/^fix: ./m)
    expect(cordon(['why', 'last']).stdout).toMatch(
      new RegExp(`^ended because it was not allowed: .*${problem}[^]*^command +echo refused$`, 'm'),
    )
  })

  test('leaves a valid log, whose path is printed before and after the call', () => {
    expect(cordon(['log', 'verify']).status).toBe(0)
    expect(cordon(['why', 'last', '--json', '--log', join(STATE_FOLDER, 'audit.jsonl')]).stdout).toContain(
      '"type":"tool.denied"',
    )
  })
})

describe('a mistake in an option', () => {
  const refused: readonly (readonly [readonly string[], RegExp, RegExp])[] = [
    [['--net', '*'], /host-malformed/, /^fix: list the hosts .*--net all/m],
    [['--net', 'a.test,b.test'], /host-malformed/, /^fix: .*--net a\.test --net b\.test$/m],
    [['--net', 'https://a.test:8443/x'], /it is a URL/, /^fix: name the host: a\.test:8443;/m],
    [
      ['--net', place, '--resolve', `${place}=127.0.0.1`],
      /is not HOST=ADDRESS/,
      /^fix: write --resolve api\.test=127\.0\.0\.1$/m,
    ],
    [
      ['--net', place, '--resolve', `${place}:127.0.0.1`],
      /is not HOST=ADDRESS/,
      /^fix: write --resolve api\.test=127\.0\.0\.1$/m,
    ],
    [
      ['--net', place, '--resolve', `${HOST}=[::1]:443`],
      /is not HOST=ADDRESS/,
      /^fix: write --resolve api\.test=::1$/m,
    ],
    [
      ['--net', place, '--resolve', `${HOST}=localhost`],
      /is not HOST=ADDRESS/,
      /^fix: write --resolve example\.org=192\.0\.2\.1$/m,
    ],
    [
      ['--net', 'all', '--net', HOST],
      /--net all cannot stand beside another --net/,
      /^fix: leave one out: --net all, or --net api\.test$/m,
    ],
    [['--net', place, '--upstream-ca', token], /it holds no certificate in PEM/, /^fix: .*openssl x509 -inform der/m],
    [
      [
        '--net',
        place,
        '--upstream-ca',
        fileWith('key.pem', '-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n'),
      ],
      /it holds no certificate, but a private key/,
      /^fix: name the certificate/m,
    ],
    [
      [
        '--net',
        place,
        '--upstream-ca',
        fileWith('broken.pem', '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'),
      ],
      /its certificate number 1 cannot be read/,
      /^fix: .*openssl x509/m,
    ],
    [
      ['--policy', fileWith('methods.yaml', `network: [ { host: a.test, methods: [ GETT ] } ]\n`)],
      /must be an HTTP method, not "GETT"/,
      /^fix: did you mean GET\?$/m,
    ],
    [['--policy', policy, '--env', 'API_TOKEN=x'], /usage-error/, /^fix: /m],
  ]
  test.each(refused)('%j is refused with a suggestion', (words, problem, fix) => {
    const { status, stderr } = cordon(['run', ...words, '--', 'true'])
    expect(status).toBe(125)
    expect(stderr).toMatch(problem)
    expect(stderr).toMatch(fix)
  })

  test(
    'and has no effect is told, and is no error: a name for the machine itself, an address for a name that is ' +
      'not granted, a way to nowhere',
    () => {
      expect(cordon(['run', '--net', 'localhost:443', '--', 'true'])).toMatchObject({
        status: 0,
        stderr: expect.stringContaining('--net 127.0.0.1:443') as string,
      })
      expect(cordon(['run', '--net', place, '--resolve', 'other.example=127.0.0.1', '--', 'true'])).toEqual({
        status: 0,
        stdout: '',
        stderr: 'cordon: --resolve other.example: no grant covers that name, so this has no effect\n',
      })
      expect(cordon(['run', '--net', place, '--resolve', 'appi.test=127.0.0.1', '--', 'true'])).toMatchObject({
        status: 0,
        stderr: expect.stringContaining('so this has no effect; did you mean api.test?') as string,
      })
      expect(cordon(['run', '--net', place, ...WAY, '--', 'true'])).toEqual({ status: 0, stdout: '', stderr: '' })
      expect(cordon(['run', '--upstream-ca', authority, '--', 'true'])).toMatchObject({
        status: 0,
        stderr: expect.stringContaining('--upstream-ca: the command is granted no host') as string,
      })
    },
  )

  test('as an unused id in secrets.yaml is named if one is missing', () => {
    const config = temporaryFolder()
    mkdirSync(join(config, 'cordon', 'policies'), { recursive: true })
    writeFileSync(join(config, 'cordon', 'secrets.yaml'), 'tokken: env:MINE\n')
    writeFileSync(join(config, 'cordon', 'policies', 'mine.yaml'), readFileSync(policy))
    const ran = cordon(['run', '--policy', 'mine', '--', 'true'], { environment: { XDG_CONFIG_HOME: config } })
    expect(ran.stderr).toMatch(
      new RegExp(
        `^fix: ${join(config, 'cordon', 'secrets.yaml')} has "tokken", which is not used: if you mean it, ` +
          `write token there; .*"token: SOURCE" in ${join(config, 'cordon', 'secrets.yaml')}, where`,
        'm',
      ),
    )
  })
})

describe('a request that only --net allows', () => {
  test('goes without the credential of a policy, with a message', async () => {
    const narrow = fileWith(
      'narrow.yaml',
      `network: [ { host: "${place}", paths: [ /v1/** ] } ]\ncredentials: [ { id: token, inject: { host: ` +
        `"${place}", as: bearer } } ]\n`,
    )
    const words = ['--policy', narrow, '--secret', `token=file:${token}`, ...WAY]
    const both = await run([
      ...words,
      '--net',
      place,
      '--',
      'curl',
      '-s',
      '-o',
      '/dev/null',
      '-o',
      '/dev/null',
      `https://${place}/v1/a`,
      `https://${place}/v2`,
    ])
    expect(both).toMatchObject({
      status: 0,
      stderr:
        `cordon: GET ${place}/v2 went without the credential "token": the policy that declares it does not ` +
        `allow that request, only another grant does (such as --net); let "network" of that policy allow it\n`,
    })
  })
})

describe('a refusal of the proxy', () => {
  const narrow = fileWith('reads.yaml', `network: [ { host: "${place}", methods: [ GET ], paths: [ /v1/** ] } ]\n`)
  const curl = (...paths: readonly string[]) => [
    '--policy',
    narrow,
    ...WAY,
    '--',
    'curl',
    '-s',
    ...paths.flatMap((path) => ['-o', '/dev/null', `https://${place}${path}`]),
  ]

  test('is reported at once with the line that would allow it, also if the command succeeds', async () => {
    const ran = await run(curl('/v2'))
    expect(ran).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(
        new RegExp(`^cordon: refused GET ${place}/v2: .*: add to a policy: .*/v2.*\\n$`),
      ) as string,
    })
    expect(cordon(['why', 'last']).stdout).toContain(ran.stderr.replace(/^cordon: refused /, '').trim())
    expect(await run(curl('/v1/a'))).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  test('is reported once for each destination, and the rest is counted', async () => {
    const { stderr } = await run(curl('/v2', '/v3', '/v4'))
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringContaining(`refused GET ${place}/v2`),
      'cordon: the proxy refused 2 more; see: cordon why last',
    ])
    expect((await run(['--quiet', ...curl('/v2')])).stderr).toBe('')
  })
})
