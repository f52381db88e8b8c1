// The operator reads on stderr, and in the audit log, which calls of a server were refused and what they lacked.
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { cordon } from '../../../core/test/cli/cordon.js'

import { folderWith, openGateway, serverScript } from './gateway.js'

test('a refused call is named on stderr with the missing grant, and by why last after the session', async () => {
  const folder = folderWith({ 'docs/a.txt': 'a', 'docs/open/b.txt': 'b' })
  const audit = { CORDON_AUDIT: join(folder, 'state', 'audit.jsonl') }
  const server = ['node', serverScript('filesystem'), join(folder, 'docs')]
  const read = (path: string) => ({ name: 'read_text_file', arguments: { path: join(folder, path) } })

  const bare = await openGateway(folder, ['--read', 'docs', '--', ...server], {}, undefined, audit)
  expect((await bare.client.callTool(read('docs/a.txt'))).isError).toBe(true)
  expect(bare.stderr()).toMatch(/refused the call of read_text_file: .*\nfix: .*mcp\.yaml, such as: .*"docs"/)
  await bare.client.close()

  const tools = folderWith({ 'tools.yaml': '"*": { filesystem: { read: [docs/open] } }\n' })
  const words = ['--tools', join(tools, 'tools.yaml'), '--read', 'docs/open', '--', ...server]
  const held = await openGateway(folder, words, {}, undefined, audit)
  expect((await held.client.callTool(read('docs/open/b.txt'))).isError).not.toBe(true)
  expect(held.stderr()).not.toContain('refused the call')
  await held.client.callTool(read('docs/a.txt'))
  expect(held.stderr()).toMatch(/refused the call of read_text_file: .*docs\/a\.txt/)
  await held.client.close()

  const why = cordon(['why', 'last'], { cwd: folder, environment: audit }).stdout
  expect(why).toMatch(/^command +node .*docs$/m)
  expect(why).toMatch(/^refused +read_text_file while it ran: .*docs\/a\.txt.*cordon why /m)
})
