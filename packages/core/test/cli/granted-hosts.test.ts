// The record and messages of `cordon run` about the hosts that a command reached.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { echo, serverAuthority, startHttps } from '../egress/servers.js'

import { cordon, cordonBeside, temporaryFolder } from './cordon.js'
import type { Ran } from './cordon.js'

const HOST = 'api.test'
const server = await startHttps(echo, { host: HOST })
afterAll(() => server.close())

const folder = temporaryFolder()
const folderOfLog = temporaryFolder()
const authority = join(folder, 'authority.pem')
writeFileSync(authority, serverAuthority.certificate)
const place = `${HOST}:${String(server.port)}`
const WAY = ['--resolve', `${HOST}=127.0.0.1`, '--upstream-ca', authority, '--net', place]

const run = (words: readonly string[]): Promise<Ran> => cordonBeside(['run', ...WAY, ...words])

describe('cordon run with granted hosts', () => {
  test('shows reached hosts in the facts, cordon log and cordon why', async () => {
    const facts = join(folder, 'facts.json')
    const ran = await run(['--facts', facts, '--', 'curl', '-sS', `https://${place}/path?token=hidden`])
    expect(ran).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(readFileSync(facts, 'utf8'))).toMatchObject({
      egress: {
        connections: 1,
        requests: 1,
        hosts: [{ host: HOST, port: server.port, connections: 1, requests: 1, credentials: [] }],
      },
    })
    const shown = cordon(['log', 'show', '--type', 'egress', '--since', '1m']).stdout
    expect(shown).toContain(`connected to ${place} (connection 1, any protocol)`)
    expect(shown).toMatch(new RegExp(`GET https://${place}/path: 200 \\(0 bytes out, \\d+ in; by ${place}\\)`))
    expect(shown).toContain(`connection 1 to ${place} closed after`)
    expect(cordon(['why', 'last']).stdout).toMatch(
      new RegExp(`^reached +${place}: 1 connection, 1 request, 0 bytes out, \\d+ in$`, 'm'),
    )
    expect(cordon(['log', 'show', '--json', '--type', 'egress']).stdout).not.toContain('hidden')
    expect(cordon(['log', 'verify']).status).toBe(0)
  })

  test('shows refusals, and what would allow them', async () => {
    await run(['--', 'curl', '-sS', '-X', 'POST', '--noproxy', '*', 'https://elsewhere.test/'])
    expect(cordon(['why', 'last']).stdout).toMatch(/^refused +to look up elsewhere\.test: add --net elsewhere\.test$/m)
    await run(['--', 'curl', '-sS', '-H', 'Host: elsewhere.test', `https://${place}/`])
    expect(cordon(['why', 'last']).stdout).toMatch(
      new RegExp(
        `^refused +GET ${place}/: the connection leads to ${place}, but the request is for "elsewhere.test"`,
        'm',
      ),
    )
  })

  test('suggests passing TLS through if the command does not trust the proxy, and only then', async () => {
    const word = `the command does not trust the certificate of Cordon's proxy for ${place}`
    const entry = `network: [{ host: "${place}", action: direct }]`
    const { status, stderr } = await run([
      '--read',
      authority,
      '--',
      'curl',
      '-sS',
      '--noproxy',
      '*',
      '--cacert',
      authority,
      `https://${place}/`,
    ])
    expect(status).not.toBe(0)
    expect(stderr).toContain(word)
    expect(stderr).toContain(entry)
    expect(cordon(['why', 'last']).stdout).toMatch(new RegExp(`^problem +${word}`, 'm'))
    expect(cordon(['log', 'show', '--json', '--type', 'egress.closed', '--since', '1m']).stdout).toContain(
      '"problem":"proxy-untrusted"',
    )
    expect((await run(['--', 'curl', '-sS', '--noproxy', '*', `https://${place}/`])).stderr).not.toContain(word)
  })

  test('connects to no host if that cannot be recorded, and fails', async () => {
    const log = join(folderOfLog, 'audit.jsonl')
    const before = server.connections()
    const environment = { CORDON_AUDIT: log }
    expect(
      (await cordonBeside(['run', ...WAY, '--', 'curl', '-sS', `https://${place}/`], { environment })).status,
    ).toBe(0)
    expect(server.connections()).toBe(before + 1)
    const running = cordonBeside(['run', ...WAY, '--', 'sh', '-c', `sleep 2; curl -sS https://${place}/; true`], {
      environment,
    })
    await expect.poll(() => readFileSync(log, 'utf8').match(/process\.started/g)?.length).toBe(2)
    renameSync(log, `${log}.gone`)
    expect(await running).toMatchObject({ status: 125, stderr: expect.stringContaining('audit-') as string })
    expect(server.connections()).toBe(before + 1)
  })

  test('has no network in the facts of a command that used none', async () => {
    const facts = join(folder, 'none.json')
    await run(['--facts', facts, '--', 'true'])
    expect(JSON.parse(readFileSync(facts, 'utf8'))).toMatchObject({ egress: null })
  })
})
