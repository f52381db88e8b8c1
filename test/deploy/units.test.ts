// The units of deploy/ use options that exist, and systemd understands them.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { CORDON } from '../repository.js'
import { readAs } from '../cli/helps.js'
import { needs } from '../requirement.js'
import { IN_MATRIX } from '../turns.js'

import { deployFile } from './deploy-files.js'

const UNITS = ['runner', 'serve'] as const
const unitOf = (name: string): string => deployFile(`cordon-${name}.service`)
const settingOf = (name: string, key: string): string | undefined =>
  new RegExp(`^${key}=(.*)$`, 'm').exec(unitOf(name))?.[1]

test.each(UNITS)('the unit of %s uses options that exist', (name) => {
  const [program, command = '', ...words] = settingOf(name, 'ExecStart')?.split(' ') ?? []
  expect([program, command]).toEqual(['cordon', name])
  const optional = Array.from(unitOf(name).matchAll(/^# {3}RUNNER_OPTIONS=(.*?)(?: {2,}.*)?$/gm), ([, text = '']) =>
    text.split(' '),
  ).flat()
  expect(readAs([command, ...words.flatMap((word) => (word === '$RUNNER_OPTIONS' ? optional : [word]))])).toMatchObject(
    { rest: [] },
  )
})

test.each(UNITS)('the unit of %s is not root, gains no rights, and has limits', (name) => {
  expect(settingOf(name, 'User')).toMatch(/^cordon/)
  expect(settingOf(name, 'NoNewPrivileges')).toBe('yes')
  expect(settingOf(name, 'CapabilityBoundingSet')).toBe('')
  for (const key of ['MemoryMax', 'CPUQuota', 'TasksMax']) expect(settingOf(name, key)).toMatch(/^\d+[GM%]?$/)
})

test('the server limits the size of requests and of answers', () => {
  const { values } = readAs(settingOf('serve', 'ExecStart')?.split(' ').slice(1) ?? [])
  for (const option of ['max-body', 'max-answer']) expect(values.get(option)).toHaveLength(1)
})

test.for(UNITS)('systemd-analyze accepts the unit of %s, and finds a planted mistake', IN_MATRIX, (name, context) => {
  needs(context, spawnSync('systemd-analyze', ['--version']).status === 0, 'systemd-analyze is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'cordon-deploy-'))
  const verify = (change: (unit: string) => string): string => {
    const file = join(folder, `cordon-${name}.service`)
    // It looks for the program, which is not installed here.
    const unit = unitOf(name).replace(/^ExecStart=cordon /m, `ExecStart=${CORDON} `)
    writeFileSync(file, change(unit))
    const { stdout, stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
    })
    return `${stdout}${stderr}${String(status)}`
  }
  try {
    expect(verify((unit) => unit)).toBe('0')
    expect(verify((unit) => unit.replace('MemoryMax=', 'MemoryMaxx='))).toContain('MemoryMaxx')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
