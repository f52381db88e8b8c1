import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openSandbox } from '../../src/sandbox/index.js'

import { temporaryFolder } from './cordon.js'

const folder = temporaryFolder()
const built = readFileSync(join(import.meta.dirname, '..', '..', 'build', 'cordon-cell'))

const launcher = (name: string, word: string): string => {
  const bytes = Buffer.from(built)
  const at = bytes.indexOf('cordon-plan-1\0')
  expect(at).toBeGreaterThan(0)
  bytes.write(word, at, 'latin1')
  writeFileSync(join(folder, name), bytes, { mode: 0o755 })
  return join(folder, name)
}

test('a launcher of another version is reported as such, not as a host that can enforce nothing', async () => {
  await expect(openSandbox({ launcher: launcher('other', 'cordon-plan-0') })).rejects.toMatchObject({
    code: 'launcher-mismatch',
    fix: expect.stringContaining('npm rebuild cordon') as string,
  })
  const sandbox = await openSandbox({ launcher: launcher('same', 'cordon-plan-1') })
  expect(sandbox.host.landlock.held || sandbox.host.namespaces.held).toBe(true)
  await sandbox.close()
})
