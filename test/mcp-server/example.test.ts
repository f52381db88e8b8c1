import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

test('the example of a server with sandboxed tools ends as its page says', () => {
  const script = fileURLToPath(new URL('../../examples/mcp-server/run.mjs', import.meta.url))
  const { status, stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  expect(stdout).toContain('No tool went beyond its policy.')
  expect(status).toBe(0)
})
