import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

test.each([
  ['an MCP server', 'mcp', 'The key stayed where it was.'],
  ['an MCP server that serves HTTP', 'mcp-http', 'Only the gateway reached the server.'],
])('the example of %s behind Cordon ends as its page says', (_, folder, words) => {
  const script = fileURLToPath(new URL(`../../examples/${folder}/run.mjs`, import.meta.url))
  const { status, stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  expect(stdout).toContain(words)
  expect(status).toBe(0)
})
