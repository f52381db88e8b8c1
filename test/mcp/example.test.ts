import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

test('the example of an MCP server behind Cordon ends as its page says', () => {
  const script = fileURLToPath(new URL('../../examples/mcp/run.mjs', import.meta.url))
  const { status, stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  expect(stdout).toContain('The key stayed where it was.')
  expect(status).toBe(0)
})
