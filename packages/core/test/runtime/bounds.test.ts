// Bounds of a machine and of a project, which every registered tool must be within.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeEach, describe, expect, test } from 'vitest'

import { parseAbsolutePath, parsePolicy } from '../../src/policy/index.js'
import type { ToolKind } from '../../src/policy/index.js'
import { createCordon, tool } from '../../src/runtime/index.js'
import { loadBounds } from 'cordon/runtime'

import { cordon } from '../cli/cordon.js'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-bounds-')))
afterAll(() => {
  rmSync(base, { recursive: true, force: true })
})
let folder = base
let count = 0
beforeEach(() => {
  folder = join(base, String((count += 1)))
  mkdirSync(join(folder, 'work', '.cordon'), { recursive: true })
  mkdirSync(join(folder, 'etc'))
})

const put = (path: string, text: string): string => {
  writeFileSync(join(folder, path), text)
  return join(folder, path)
}
const requireWithin = (policy: unknown, kind: ToolKind = 'process') => {
  loadBounds({
    workspace: parseAbsolutePath(join(folder, 'work')),
    home: parseAbsolutePath(join(folder, 'home')),
    managed: { folder: join(folder, 'etc'), owner: process.geteuid?.() ?? 0 },
    projects: 'read',
  })({ name: 'look', kind, policy: parsePolicy(policy, 'test') })
}
const reading = (...read: string[]) => ({ filesystem: { read } })
const BEYOND = { code: 'policy-beyond-bound' }

describe('a bound', () => {
  test.each(['bound.yaml', 'bound.yml', 'bound.json'])('counts as %s', (name) => {
    put(`work/.cordon/${name}`, '{ "filesystem": { "read": ["./src/**"] } }\n')
    requireWithin(reading('src/**'))
    expect(() => {
      requireWithin(reading('./**'))
    }).toThrow(expect.objectContaining(BEYOND))
  })

  test('that is a link to nothing is an error', () => {
    symlinkSync(join(folder, 'nothing'), join(folder, 'work/.cordon/bound.yaml'))
    expect(() => {
      requireWithin(reading('src/**'))
    }).toThrow()
  })

  test('holds for cordon run', () => {
    put('work/.cordon/bound.yaml', 'filesystem: { read: [./src/**] }\nexec: all\n')
    const ran = (read: string) => cordon(['run', '--read', read, '--', 'true'], { cwd: join(folder, 'work') })
    mkdirSync(join(folder, 'work/src'))
    expect(ran('./src/**').status).toBe(0)
    expect(ran('/etc/hostname')).toMatchObject({ status: 125, stderr: expect.stringContaining('bound.yaml') as string })
  })
})

describe('a tool', () => {
  test('is refused if it goes beyond the bound of the machine, with an example', () => {
    const path = put('etc/bound.yaml', 'filesystem: { read: [./**, "!.env"] }\n')
    requireWithin(reading('src/**'))
    expect(() => {
      requireWithin(reading('./**'))
    }).toThrow(expect.objectContaining({ ...BEYOND, params: expect.objectContaining({ bound: path }) as object }))
    expect(() => {
      requireWithin(reading('./**'))
    }).toThrow(/\.env/)
  })

  test('is refused if it goes beyond the bound of its project', () => {
    put('work/.cordon/bound.yaml', 'filesystem: { read: [src/**] }\n')
    requireWithin(reading('src/lib/**'))
    expect(() => {
      requireWithin(reading('docs/**'))
    }).toThrow(expect.objectContaining(BEYOND))
  })

  test('is refused if it would run without a cell', () => {
    put('etc/bound.yaml', 'filesystem: { read: [./**] }\n')
    requireWithin(reading('src/**'), 'function')
    expect(() => {
      requireWithin(reading('src/**'), 'in-process')
    }).toThrow(expect.objectContaining(BEYOND))
  })

  test('has no bound where nobody wrote one', () => {
    requireWithin({ filesystem: { read: ['/**'] } })
  })
})

test('a bound of a project that goes beyond the bound of the machine is refused', () => {
  put('etc/bound.yaml', 'filesystem: { read: [src/**] }\n')
  put('work/.cordon/bound.yaml', 'filesystem: { read: [src/lib/**] }\n')
  requireWithin(reading('src/lib/a'))
  put('work/.cordon/bound.yaml', 'filesystem: { read: [./**] }\n')
  expect(() => {
    requireWithin(reading('src/lib/a'))
  }).toThrow(expect.objectContaining(BEYOND))
})

test('a bound that others can write to is refused', () => {
  chmodSync(put('etc/bound.yaml', 'filesystem: { read: [./**] }\n'), 0o666)
  expect(() => {
    requireWithin(reading('src/**'))
  }).toThrow(expect.objectContaining({ code: 'rules-unsafe' }))
})

test('a runtime refuses such a tool when it is made, and takes one within', async () => {
  put('work/.cordon/bound.yaml', 'filesystem: { read: [src/**] }\n')
  const open = (read: string) =>
    createCordon({
      workspace: join(folder, 'work'),
      home: join(folder, 'home'),
      ruleFiles: 'all',
      tools: [tool({ name: 'look', description: 'looks', policy: reading(read), run: () => 1 })],
    })
  await expect(open('docs/**')).rejects.toMatchObject(BEYOND)
  await (await open('src/lib/**')).close()
})
