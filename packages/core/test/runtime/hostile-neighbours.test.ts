// A short version of `npm run bench -- --hostile`: honest calls beside hostile tools in one runtime. The bench
// measures speed. Here every call must end correctly.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { REPOSITORY } from '../../../../test/repository.js'
import { temporaryFolder } from '../cli/cordon.js'

interface Report {
  readonly honest: Readonly<Record<string, { readonly calls: number; readonly failed: number }>>
  readonly hostile: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly memory: { readonly peak: number }
}

/** More than any tool may take of the host's memory, less than a leak of what they send would reach. */
const MOST_MEMORY = 700

test('hostile tools neither break honest calls nor fill the memory of their host', () => {
  const json = join(temporaryFolder(), 'report.json')
  const bench = join(REPOSITORY, 'bench', 'bench.mjs')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [bench, '--hostile', '--sustain', '12', '--json', json],
    { encoding: 'utf8', timeout: 220_000 },
  )
  expect(status, stdout + stderr).toBe(0)
  const { honest, hostile, memory } = JSON.parse(readFileSync(json, 'utf8')) as Report
  expect(Object.keys(honest)).toEqual(['add', 'true', 'fetch'])
  for (const [name, { calls, failed }] of Object.entries(honest))
    expect({ name, failed, ran: calls > 0 }, stderr).toEqual({ name, failed: 0, ran: true })
  expect(Object.keys(hostile).length).toBeGreaterThan(3)
  expect(memory.peak).toBeLessThan(MOST_MEMORY)
})
