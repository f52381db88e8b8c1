import { join } from 'node:path'
import { spawnSync } from 'node:child_process'

import { expect, test } from 'vitest'

import { REPOSITORY } from '../../../../test/repository.js'

test('the example of a server with sandboxed tools ends as its page says', () => {
  const script = join(REPOSITORY, 'examples/mcp-server/run.mjs')
  const { status, stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  expect(stdout).toContain('No tool went beyond its policy.')
  expect(status).toBe(0)
})
