import { afterEach, describe, expect, test } from 'vitest'

import { hostsFileEntries, systemResolver } from '../../src/egress/upstream/resolve.js'
import { isNobodysOwn, parseIpAddress, parseResolved, renderIpAddress, specialPurpose } from '../../src/policy/index.js'
import type { HostName, IpAddress } from '../../src/policy/index.js'

import { curl } from './programs.js'
import { echo, startHttps } from './servers.js'
import type { TestServer } from './servers.js'
import { openStage } from './stage.js'
import type { Stage, StageOptions } from './stage.js'

const address = (text: string): IpAddress => parseResolved(text) ?? expect.fail(`no address: ${text}`)

describe('a non-public address', () => {
  test.each([
    '127.0.0.1',
    '127.8.8.8',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '169.254.170.2',
    '100.64.0.1',
    '100.100.100.200',
    '192.0.0.192',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '2001::1',
    'fe80::1',
    'fec0::1',
    'fd00:ec2::254',
    'fc00::1',
    'ff02::1',
    '2001:db8::1',
    '168.63.129.16',
    '100:0:0:1::1',
    '64:ff9a::1',
    '200::1',
    '2d00::1',
    '3000::1',
    '4000::1',
    'fbff::1',
  ])('%s is recognised', (text) => {
    expect(specialPurpose(address(text))).toBeTypeOf('string')
  })

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '192.0.1.1',
    '2606:4700::1111',
    '2a00:1450::1',
    '64:ff9b::808:808',
    '2002:808:808::1',
    '::ffff:8.8.8.8',
    '168.63.129.17',
    '2400::1',
    '2c0f:ffff::1',
  ])('%s is public', (text) => {
    expect(specialPurpose(address(text))).toBeUndefined()
  })
})

describe('a private address', () => {
  test.each([
    '10.1.2.3',
    '192.168.1.1',
    '172.16.0.1',
    '127.0.0.1',
    '100.64.0.1',
    '::1',
    'fd12::1',
    'fec0::1',
    '1.1.1.1',
    '2a00:1450::1',
    '64:ff9b::a01:203',
  ])('may be %s', (text) => {
    expect(isNobodysOwn(address(text))).toBe(false)
  })

  test.each([
    '0.0.0.0',
    '169.254.169.254',
    '100.100.100.200',
    '192.0.0.192',
    '224.0.0.1',
    '239.1.2.3',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    'fe80::1',
    'febf::1',
    'ff02::1',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
  ])('is never %s, a metadata or reserved address', (text) => {
    expect(isNobodysOwn(address(text))).toBe(true)
  })
})

let stage: Stage
let server: TestServer
let isSet = false
afterEach(async () => {
  if (!isSet) return
  isSet = false
  await stage.close()
  await server.close()
})

const set = async (network: (port: number) => unknown, resolve: StageOptions['resolve']): Promise<string> => {
  isSet = true
  server = await startHttps(echo)
  stage = await openStage({ network: network(server.port), ...(resolve === undefined ? {} : { resolve }) })
  return `https://api.test:${server.port}/`
}
const loopback = parseIpAddress('127.0.0.1') as IpAddress

describe('a granted name with an address of this machine', () => {
  test.each(['127.0.0.1', '::1', '64:ff9b::7f00:1', '169.254.169.254', 'fd00:ec2::254'])(
    '(%s) is refused, and the record says what would allow it',
    async (text) => {
      const url = await set(
        (port) => [`api.test:${port}`],
        () => Promise.resolve([address(text)]),
      )
      expect((await curl(stage, '-o', '/dev/null', '-w', '%{http_code}', url)).output).toBe('403')
      expect(stage.violations()).toEqual([
        expect.objectContaining({
          reason: 'address',
          allow: expect.stringMatching(/^network: \["[0-9a-f.:]+\/(32|128)"\]$/) as string,
        }),
      ])
      expect(server.connections()).toBe(0)
    },
  )

  test('is reached if the address is granted as a block', async () => {
    const url = await set(
      (port) => [`api.test:${port}`, '127.0.0.0/8'],
      () => Promise.resolve([loopback]),
    )
    expect((await curl(stage, url)).output).toContain('"method":"GET"')
  })

  test('is refused if its address is denied, whatever else is granted', async () => {
    const url = await set(
      (port) => [`api.test:${port}`, '127.0.0.0/8', { host: '127.0.0.1', action: 'deny' }],
      () => Promise.resolve([loopback]),
    )
    expect((await curl(stage, '-o', '/dev/null', '-w', '%{http_code}', url)).output).toBe('403')
    expect(stage.violations()[0]).toMatchObject({ reason: 'denied' })
  })

  test('is reached by its granted addresses', async () => {
    const url = await set(
      (port) => [`api.test:${port}`, '127.0.0.1/32'],
      () => Promise.resolve([address('127.0.0.9'), loopback, address('169.254.169.254')]),
    )
    expect((await curl(stage, url)).output).toContain('"method":"GET"')
  })
})

describe('a name whose address changes', () => {
  test('is resolved once for a connection, and only the checked address is dialled', async () => {
    let asked = 0
    const url = await set(
      (port) => [`api.test:${port}`, '127.0.0.1/32'],
      () => Promise.resolve([asked++ === 0 ? loopback : address('127.0.0.2')]),
    )
    expect((await curl(stage, url)).output).toContain('"method":"GET"')
    expect(asked).toBe(1)
  })

  test('is checked again for the next connection', async () => {
    let asked = 0
    const url = await set(
      (port) => [{ host: `api.test:${port}`, action: 'direct' }, '127.0.0.1/32'],
      () => Promise.resolve([asked++ === 0 ? loopback : address('127.0.0.2')]),
    )
    expect((await curl(stage, '-k', url)).output).toContain('"method":"GET"')
    expect((await curl(stage, '-k', url)).status).not.toBe(0)
    expect(stage.violations()).toEqual([expect.objectContaining({ reason: 'address' })])
  })
})

describe('the resolver of the host', () => {
  test('reads the hosts file, and asks only for the given name', async () => {
    const file =
      '127.0.0.1 localhost\n# 10.0.0.1 api.test\n10.0.0.2\tother.test API.test # and a remark\n::1 api.test\n'
    expect(hostsFileEntries(file, 'api.test').map(renderIpAddress)).toEqual(['10.0.0.2', '::1'])
    expect(hostsFileEntries(file, 'remark')).toEqual([])
    const found = await systemResolver()('localhost' as HostName)
    expect(found.map(renderIpAddress)).toContain('127.0.0.1')
    await expect(systemResolver()('nothing-of-that-name.invalid' as HostName)).rejects.toThrow('cannot be resolved')
  })
})

describe('names', () => {
  test('without a grant are never looked up', async () => {
    const asked: string[] = []
    await set(
      (port) => [`api.test:${port}`, '*.wild.test'],
      (name) => {
        asked.push(name)
        return Promise.resolve([])
      },
    )
    await curl(stage, 'https://secret-in-a-name.other.test/')
    await curl(stage, 'http://secret-in-a-name.other.test/')
    expect(asked).toEqual([])
    await curl(stage, 'https://a.wild.test/')
    expect(asked).toEqual(['a.wild.test'])
  })

  test('and ports that are ambiguous are refused', async () => {
    await set(() => ['api.test'], undefined)
    expect(stage.call.mayConnect('api.test', 443)).toBeUndefined()
    for (const [host, port] of [
      ['api.test\0', 443],
      ['api.test', 0],
      ['api.test', 65536],
      ['api.test', 443.5],
      ['127.1', 443],
      ['::ffff:127.0.0.1', 443],
    ] as const) {
      expect(stage.call.mayConnect(host, port), host).toMatchObject({ reason: 'malformed' })
    }
  })
})
