// Sandboxed tools of a server that runs in a cell itself: they have only what both cells grant.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, describe, expect, test } from 'vitest'

import { REPOSITORY } from '../../../../test/repository.js'
import { startHttp } from '../../../core/test/egress/servers.js'
import { folderWith, openGateway, textOf } from '../mcp/gateway.js'

const CHECKOUT = `${REPOSITORY}/`
const SERVER = fileURLToPath(new URL('nested-server.mjs', import.meta.url))

const own = await startHttp((_request, response) => response.end('of own'))
const outer = await startHttp((_request, response) => response.end('of outer'))
afterAll(() => Promise.all([own.close(), outer.close()]))

// The outer cell grants these hosts.
const OUTER = [`own.test:${String(own.port)}`, `outer.test:${String(outer.port)}`, `nobody.test:${String(outer.port)}`]
/** Tools that want more than the outer cell has. The gateway lets their calls pass, so that the cells are judged. */
const settings = (hosts: readonly string[]): string => {
  const network = hosts.map((host) => ({ host, methods: ['GET'] }))
  const judgedInside = { fetch_more: { network }, read_granted: 'server', read_withheld: 'server' }
  const tools = { ...judgedInside, '*': { proposed: { within: { network } } } }
  return `servers: ${JSON.stringify({ nested: { tools } })}\n`
}

const open = async (form: string, hosts: readonly string[] = OUTER) => {
  const config = folderWith({})
  mkdirSync(join(config, 'cordon'))
  writeFileSync(join(config, 'cordon', 'mcp.yaml'), settings(hosts))
  const folder = folderWith({ granted: 'granted', withheld: 'a secret' })
  const { client } = await openGateway(
    folder,
    [
      ...['--form', form, '--read', CHECKOUT, '--read', 'granted', '--server', 'nested'],
      ...['own.test', 'outer.test', 'nobody.test'].flatMap((name) => ['--resolve', `${name}=127.0.0.1`]),
      ...['--', 'node', SERVER, String(own.port), String(outer.port)],
      ...['granted', 'withheld'].map((name) => join(folder, name)),
    ],
    {},
    undefined,
    { XDG_CONFIG_HOME: config },
  )
  return async (name: string, host: 'own.test' | 'outer.test' | 'nobody.test') => {
    const port = host === 'own.test' ? own.port : outer.port
    const result = await client.callTool({ name, arguments: { host, port } })
    return { isError: result.isError === true, text: textOf(result).trim() }
  }
}

describe.each(['namespaces', 'landlock'])('behind `cordon mcp` in the form %s', (form) => {
  test('a tool reaches the hosts that both cells grant, also with a program that knows no proxy', async () => {
    const call = await open(form)
    expect(await call('fetch_own', 'own.test')).toEqual({ isError: false, text: '200 of own' })
    expect(await call('curl_own', 'own.test')).toEqual({ isError: false, text: 'of own' })
    expect(await call('fetch_both', 'outer.test')).toEqual({ isError: false, text: '200 of outer' })
  })

  test('it reaches no host that only the outer cell grants, and without hosts it reaches none', async () => {
    const call = await open(form)
    const before = outer.connections()
    expect((await call('fetch_own', 'outer.test')).isError).toBe(true)
    expect((await call('curl_own', 'outer.test')).isError).toBe(true)
    expect((await call('fetch_nothing', 'own.test')).isError).toBe(true)
    expect(outer.connections()).toBe(before)
  })

  test('it reaches no host that only its own policy grants', async () => {
    const call = await open(form, OUTER.slice(0, 2))
    const before = outer.connections()
    const { text } = await call('fetch_more', 'nobody.test')
    expect(text).toMatch(/^502 /)
    expect(outer.connections()).toBe(before)
    expect(await call('fetch_more', 'own.test')).toEqual({ isError: false, text: '200 of own' })
  })

  test('it reads no file that only its own policy grants', async () => {
    const call = await open(form)
    expect(await call('read_granted', 'own.test')).toEqual({ isError: false, text: 'granted' })
    const refused = await call('read_withheld', 'own.test')
    expect(refused.isError).toBe(true)
    expect(refused.text).not.toContain('a secret')
  })

  test('a function that says exec: none is refused, because nothing can enforce that there', async () => {
    const call = await open(form)
    expect((await call('starts_nothing', 'own.test')).text).toMatch(/cannot be enforced|is not installed/)
    expect((await call('starts_programs', 'own.test')).text).toBe('started')
  })
})
