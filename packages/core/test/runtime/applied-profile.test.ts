// A cell whose applied boundary differs from the permitted one runs nothing, and its tool is stopped. The launchers are
// compiled from altered sources.
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { parsePolicy, resolvePolicy } from '../../src/policy/index.js'
import { processTool } from '../../src/runtime/index.js'
import type { CordonOptions } from '../../src/runtime/index.js'
import { beyondPermit } from '../../src/sandbox/index.js'
import type { AppliedProfile } from '../../src/sandbox/index.js'

import { IN_MATRIX } from '../../../../test/turns.js'
import { eventsOf, openStage } from './stage.js'

const stage = openStage()
const NATIVE = join(import.meta.dirname, '..', '..', 'native')

const alteredLauncher = (file: string, before: string, after: string): string => {
  const folder = stage.newFolder()
  cpSync(NATIVE, join(folder, 'native'), { recursive: true })
  const place = join(folder, 'native', file)
  const source = readFileSync(place, 'utf8')
  expect(source).toContain(before)
  writeFileSync(place, source.replace(before, after))
  const sources = readdirSync(join(folder, 'native'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.c') && !name.startsWith('fuzz/'))
    .map((name) => join(folder, 'native', name))
  const launcher = join(folder, 'cordon-cell')
  const words = ['-std=gnu11', '-D_GNU_SOURCE', '-O0', '-w', '-I', join(folder, 'native'), ...sources, '-o', launcher]
  const made = spawnSync('cc', words, { encoding: 'utf8' })
  expect(made.stderr).toBe('')
  return launcher
}

const runtimeWith = async (launcher?: string) => {
  writeFileSync(join(stage.workspace, 'open.txt'), 'open')
  writeFileSync(join(stage.workspace, 'hidden.txt'), 'hidden')
  const tools: CordonOptions['tools'] = [
    processTool({
      name: 'look',
      description: 'reads a file',
      input: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] },
      policy: {
        filesystem: { read: ['./**', '!hidden.txt'] },
        limits: { fileSize: '1M' },
      },
      command: ({ file }: { readonly file: string }) => ['cat', file],
    }),
    processTool({ name: 'idle', description: 'does nothing', policy: {}, command: () => ['true'] }),
  ]
  return stage.cordon({ tools, ...(launcher === undefined ? {} : { sandbox: { launcher } }) })
}

test('a cell that is built as planned runs', async () => {
  const runtime = await runtimeWith()
  const events = eventsOf(runtime)
  expect(await runtime.call('look', { file: 'open.txt' })).toMatchObject({ status: 'ok', output: { stdout: 'open' } })
  expect(await runtime.call('look', { file: 'open.txt' })).toMatchObject({ status: 'ok' })
  expect(events.filter(({ type }) => type === 'sandbox.mismatch')).toEqual([])
})

const ALTERED = [
  ['sets no limit', 'boundary/confine.c', 'if (limits->file_size)', 'if (0)'],
  [
    'mounts a folder with more rights',
    'boundary/root.c',
    'case STEP_BIND: bind_path(root, step);',
    'case STEP_BIND: { struct step more = *step; more.access |= ACCESS_WRITE; bind_path(root, &more); }',
  ],
  ['leaves a Landlock rule out', 'boundary/landlock.c', 'for (size_t i = 0; i <', 'for (size_t i = 1; i <'],
] as const

describe('a launcher that', () => {
  // Each is compiled, which takes seconds.
  for (const [index, [title, file, before, after]] of ALTERED.entries())
    test(`${title} runs nothing, and the tool is stopped`, index === 0 ? {} : IN_MATRIX, async () => {
      const runtime = await runtimeWith(alteredLauncher(file, before, after))
      const events = eventsOf(runtime)
      const first = await runtime.call('look', { file: 'open.txt' })
      expect(first).toMatchObject({ status: 'not_started', facts: { error: { code: 'profile-mismatch' } } })
      expect(events.map(({ type }) => type)).toContain('sandbox.mismatch')
      expect(events.map(({ type }) => type)).not.toContain('process.started')
      expect(await runtime.call('look', { file: 'open.txt' })).toMatchObject({
        status: 'denied',
        facts: { error: { code: 'tool-stopped' } },
      })
    })
})

describe('a cell is beyond its permit if', () => {
  const boundary = resolvePolicy(
    parsePolicy(
      { filesystem: { write: ['/var/tmp/out'] }, exec: 'none', limits: { openFiles: 64, fileSize: '1M', cpu: '2s' } },
      'test',
    ),
    { workspace: '/work' as never, home: '/home/ann' as never, kind: 'process' },
  )
  const built: AppliedProfile = {
    form: 'namespaces',
    network: 'own',
    open_files: 64,
    file_size: 1024 * 1024,
    cpu_seconds: 4,
    writable: ['/var/tmp/out' as never],
    startsAnyProgram: false,
  }
  test.each([
    ['it shares the network of the host', { network: 'shared' }],
    ['it can start any program', { startsAnyProgram: true }],
    ['it can open more files', { open_files: 65 }],
    ['it can make larger files', { file_size: 0 }],
    ['it has more processor time', { cpu_seconds: 60 }],
    ['it can write to /etc', { writable: ['/var/tmp/out', '/etc'] }],
  ] as const)('%s', (problem, change) => {
    expect(beyondPermit(built, boundary)).toBeUndefined()
    expect(beyondPermit({ ...built, ...change } as AppliedProfile, boundary)).toBe(problem)
  })

  test.each([
    ['of another cell around it', { network: 'unknown' }],
    ['in the landlock form, where a filter holds the network', { form: 'landlock', network: 'shared' }],
    ['with lower limits of the host', { open_files: 32, cpu_seconds: 1 }],
  ] as const)('and not %s', (_, change) => {
    expect(beyondPermit({ ...built, ...change }, boundary)).toBeUndefined()
  })
})
