// The capability keys of sandlock become a policy. What is unknown or cannot be enforced in the same way is refused.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, onTestFinished, test } from 'vitest'

import { createMcpSandbox, policyFromCapabilities } from '../../src/server/index.js'
import { folderWith } from '../mcp/gateway.js'

describe('capabilities of sandlock', () => {
  test('become the sections of a policy', () => {
    expect(
      policyFromCapabilities({
        fs_readable: ['/srv/a'],
        fs_writable: ['/srv/b*'],
        fs_denied: ['/srv/a/key'],
        net_allow_hosts: ['api.example.org', '2001:db8::1'],
        net_connect: [443],
        net_bind: [],
        env: { KEY: 'value' },
        max_memory: '256M',
        max_processes: 8,
        max_open_files: 64,
      }),
    ).toEqual({
      filesystem: { read: ['/srv/a', '!/srv/a/key'], write: ['/srv/b\\*'] },
      network: ['api.example.org:443', '[2001:db8::1]:443'],
      environment: ['KEY=value'],
      limits: { memory: '256M', processes: 8, openFiles: 64 },
    })
  })

  test('that name no ports mean those of the web, and none grant nothing', () => {
    expect(policyFromCapabilities({ net_allow_hosts: ['api.example.org'] }).network).toEqual(['api.example.org'])
    expect(policyFromCapabilities({})).toEqual({
      filesystem: { read: [], write: [] },
      network: 'none',
      environment: [],
      limits: {},
    })
  })

  test.each([
    ['a misspelt key', { max_memroy: '1G' }, 'max_memroy'],
    ['a share of the processor', { max_cpu: 50 }, 'max_cpu'],
    ['another field of its policies', { chroot: '/' }, 'chroot'],
    ['ports of every host', { net_connect: [443] }, 'net_connect'],
    ['a port to listen on', { net_bind: [8080] }, 'net_bind'],
    ['a relative path', { fs_readable: ['data'] }, 'fs_readable[0]'],
    ['a carve-out in place of a path', { fs_writable: ['!/srv'] }, 'fs_writable[0]'],
    ['a variable that is no text', { env: { KEY: 1 } }, 'env.KEY'],
    ['no mapping', ['fs_readable'], 'mapping'],
  ])('that have %s are refused, and the error names it', (_, capabilities, named) => {
    expect(() => policyFromCapabilities(capabilities)).toThrow(named)
  })
})

describe('a sandbox with capabilities', () => {
  const open = () => {
    const workspace = folderWith({ 'a.txt': 'in the workspace' })
    const elsewhere = folderWith({ 'b.txt': 'elsewhere' })
    const mcp = createMcpSandbox({ workspace })
    onTestFinished(() => mcp.close())
    return { workspace, elsewhere, mcp }
  }
  const read = async ({ path }: { readonly path: string }) => (await import('node:fs')).readFileSync(path, 'utf8')
  const write = async ({ path }: { readonly path: string }) => {
    ;(await import('node:fs')).writeFileSync(path, 'written')
  }

  test('reads its workspace without any, and nothing else', async () => {
    const { workspace, elsewhere, mcp } = open()
    mcp.addTool('read', read)
    expect(await mcp.callTool('read', { path: join(workspace, 'a.txt') })).toMatchObject({
      isError: false,
      text: 'in the workspace',
    })
    expect(await mcp.callTool('read', { path: join(elsewhere, 'b.txt') })).toMatchObject({ status: 'denied' })
  })

  test('writes only where they say', async () => {
    const { workspace, mcp } = open()
    writeFileSync(join(workspace, 'key'), 'a secret')
    mcp.addTool('write', write, { capabilities: { fs_writable: [workspace] } })
    mcp.addTool('write_nothing', write)
    mcp.addTool('read_rest', read, { capabilities: { fs_denied: [join(workspace, 'key')] } })
    expect((await mcp.callTool('write_nothing', { path: join(workspace, 'new') })).isError).toBe(true)
    expect(existsSync(join(workspace, 'new'))).toBe(false)
    expect((await mcp.callTool('write', { path: join(workspace, 'new') })).isError).toBe(false)
    expect(existsSync(join(workspace, 'new'))).toBe(true)
    expect((await mcp.callTool('read_rest', { path: join(workspace, 'key') })).isError).toBe(true)
    expect((await mcp.callTool('read_rest', { path: join(workspace, 'a.txt') })).isError).toBe(false)
  })

  test('refuses an unknown key when the tool is added', () => {
    const { mcp } = open()
    expect(() => {
      mcp.addTool('a', () => 1, { capabilities: { max_memroy: '1G' } as never })
    }).toThrow('max_memroy')
  })
})
