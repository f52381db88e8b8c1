// The versions of a team's registry in a manifest.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { cordon as commandLine } from '../../../core/test/cli/cordon.js'

import { described, project, temporaryFolder } from './project-stage.js'

test('a tool has its version in the registry that the command line names, and none without one', () => {
  const folder = project({
    'cordon.config.json': '{ "policies": ["build.yaml", "other.yaml"] }',
    'build.yaml': 'filesystem: { read: [.] }\n',
    'other.yaml': '{}\n',
  })
  const store = ['--store', join(temporaryFolder(), 'store'), '--as', 'ada']
  const cordon = (...words: readonly string[]) => {
    const ran = commandLine([...words, ...store], { cwd: folder, environment: { HOME: '/var/empty' } })
    expect(ran, ran.stderr).toMatchObject({ status: 0 })
  }
  cordon('team', 'create', 'acme')
  for (const cost of [1, 2]) {
    writeFileSync(join(folder, 'tool.yaml'), `key: build\negress_class: none\nexpected_cost: ${cost}\n`)
    cordon('team', 'tools', 'register', 'tool.yaml')
  }
  const versions = (words: readonly string[]) =>
    described(folder, words).agents.flatMap(({ tools }) => tools.map(({ name, registry_version: at }) => [name, at]))
  expect(versions([])).toEqual([
    ['build', undefined],
    ['other', undefined],
  ])
  expect(versions(store)).toEqual([
    ['build', 2],
    ['other', undefined],
  ])
})
