import { join } from 'node:path'
import { spawnSync } from 'node:child_process'

import { expect, test } from 'vitest'

import { REPOSITORY } from '../../../../test/repository.js'

test.each([
  ['an MCP server', 'mcp', 'The key stayed where it was.'],
  ['an MCP server that serves HTTP', 'mcp-http', 'Only the gateway reached the server.'],
])('the example of %s behind Cordon ends as its page says', (_, folder, words) => {
  const script = join(REPOSITORY, 'examples', folder, 'run.mjs')
  const { status, stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  expect(stdout).toContain(words)
  expect(status).toBe(0)
})
