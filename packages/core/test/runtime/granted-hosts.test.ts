import { afterAll, describe, expect, test } from 'vitest'

import { processTool, tool } from '../../src/runtime/index.js'
import { echo, serverAuthority, startHttps } from '../egress/servers.js'

import { asWritten, openStage } from './stage.js'

const HOST = 'api.test'
const server = await startHttps(echo, { host: HOST })
afterAll(() => server.close())

const stage = openStage()
const url = `https://${HOST}:${String(server.port)}`
const egress = {
  authorities: [serverAuthority.certificate],
  pins: { [HOST]: ['127.0.0.1'], 'other.test': ['127.0.0.1'] },
}
const policy = { network: [`${HOST}:${String(server.port)}`], egress_class: 'read_only' } as const

const fetching = tool({
  name: 'fetching',
  policy,
  run: asWritten(
    "async ({ url, method }) => { const answer = await fetch(url, { method: method ?? 'GET' }); return { " +
      'status: answer.status, text: await answer.text() } }',
  ),
})
const curling = processTool({
  name: 'curling',
  policy,
  command: (input: { readonly url: string }) => ['curl', '-sS', '--noproxy', '*', input.url],
})

describe('tools with granted hosts', () => {
  test('a function reaches one, call after call', async () => {
    const cordon = await stage.cordon({ tools: [fetching], egress })
    for (const path of ['/one', '/two', '/three']) {
      const result = await cordon.call('fetching', { url: `${url}${path}` })
      expect(result).toMatchObject({
        status: 'ok',
        output: { status: 200, text: expect.stringContaining(path) as string },
      })
      expect(result.facts.sandbox_profile).toMatchObject({ network: [`${HOST}:${String(server.port)}`] })
    }
  })

  test('a process reaches one, in warm cells, also concurrently', async () => {
    const cordon = await stage.cordon({ tools: [curling], egress })
    const paths = ['/a', '/b', '/c', '/d']
    const one = (path: string) => cordon.call('curling', { url: `${url}${path}` })
    for (const path of paths)
      expect(await one(path)).toMatchObject({
        status: 'ok',
        output: { stdout: expect.stringContaining(path) as string },
      })
    const results = await Promise.all(paths.map(one))
    expect(results.map(({ status }) => status)).toEqual(paths.map(() => 'ok'))
  })

  test('other hosts and methods outside the class are violations', async () => {
    const cordon = await stage.cordon({ tools: [fetching, curling], egress })
    const elsewhere = await cordon.call('curling', { url: `https://other.test:${String(server.port)}/` })
    expect(elsewhere.status).not.toBe('ok')
    const posting = await cordon.call('fetching', { url, method: 'POST' })
    expect(posting.facts.violations).toContainEqual(
      expect.objectContaining({ kind: 'egress', host: HOST, method: 'POST', reason: 'read-only' }),
    )
  })

  test("a runtime without the server's authority does not trust the server", async () => {
    const cordon = await stage.cordon({ tools: [fetching], egress: { pins: egress.pins } })
    const result = await cordon.call('fetching', { url })
    expect(result.output === undefined || (result.output as { readonly status: number }).status === 502).toBe(true)
  })

  test('network all is given only to a call that somebody approved', async () => {
    const open = processTool({
      name: 'open',
      policy: { network: 'all' },
      command: () => ['curl', '-sSk', '--resolve', `${HOST}:${String(server.port)}:127.0.0.1`, url],
    })
    const allowed = await stage.cordon({ tools: [open], mode: 'bypass' })
    expect(await allowed.call('open', {})).toMatchObject({
      status: 'not_started',
      facts: { error: { code: 'network-unapproved' } },
    })
    const asked = await stage.cordon({
      tools: [open],
      mode: 'default',
      approve: () => ({ kind: 'approve_once', by: 'ann' }),
    })
    expect(await asked.call('open', {})).toMatchObject({
      status: 'ok',
      output: { stdout: expect.stringContaining('GET') as string },
    })
  })

  test('invalid pins are refused with the correct form', async () => {
    await expect(stage.cordon({ tools: [], egress: { pins: { [HOST]: ['127.1'] } } })).rejects.toMatchObject({
      code: 'host-malformed',
    })
  })
})
