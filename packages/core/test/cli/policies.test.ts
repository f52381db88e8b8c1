import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { combinePolicies } from 'cordon/commands'
import type { Facts } from './printed.js'
import { parsePolicy } from '../../src/policy/index.js'

import { cordon, temporaryFolder } from './cordon.js'

const combine = (typed: unknown, ...files: readonly unknown[]) =>
  combinePolicies(
    files.map((file, at) => ({
      source: `file${String(at + 1)}.yaml`,
      policy: parsePolicy(file, `file${String(at + 1)}.yaml`),
      whereIs: (section) => `file${String(at + 1)}.yaml:${section}`,
    })),
    parsePolicy(typed, 'typed'),
  )

describe('policies and options together', () => {
  test('lists add up, carve-outs included', () => {
    const { filesystem } = combine(
      { filesystem: { read: ['c'] } },
      { filesystem: { read: ['a', '!a/x'], write: 'none' } },
      { filesystem: { read: ['b'] } },
    )
    expect(filesystem.read).toMatchObject({
      kind: 'list',
      items: [{ text: 'a' }, { text: '!a/x', negated: true }, { text: 'b' }, { text: 'c' }],
    })
    expect(filesystem.write).toEqual({ kind: 'none' })
  })

  test('the strictest limit of the files counts, and a typed one wins', () => {
    const files = [{ limits: { memory: '1G', wall: '10s' } }, { limits: { memory: '512M' } }]
    expect(combine({}, ...files).limits).toEqual({ memory: 512 * 2 ** 20, wall: 10_000 })
    expect(combine({ limits: { memory: '2G' } }, ...files).limits).toEqual({ memory: 2 * 2 ** 30, wall: 10_000 })
  })

  test.each(['network', 'exec'] as const)(
    'for %s a typed none or all wins over files, and a list adds to theirs',
    (section) => {
      const item = section === 'network' ? 'example.org' : '/bin/sh'
      expect(combine({ [section]: 'none' }, { [section]: 'all' })[section]).toEqual({ kind: 'none' })
      expect(combine({ [section]: 'all' }, { [section]: 'none' })[section]).toEqual({ kind: 'all' })
      expect(combine({ [section]: [item] }, { [section]: 'none' })[section]).toMatchObject({
        kind: 'list',
        items: [{}],
      })
      expect(combine({}, { [section]: [item] }, { [section]: 'all' })[section]).toEqual({ kind: 'all' })
      expect(combine({}, {})[section]).toEqual({ kind: 'unspecified' })
    },
  )

  test('network all never removes a denial', () => {
    const denying = { network: [{ host: 'evil.example', action: 'deny' }, 'example.org'] }
    expect(() => combine({ network: 'all' }, denying)).toThrow(
      'file1.yaml:network: network: it denies hosts, and the command line grants the whole network',
    )
    expect(() => combine({}, denying, { network: 'all' })).toThrow('file2.yaml:network grants the whole network')
    expect(combine({ network: 'none' }, denying, { network: 'all' }).network).toEqual({ kind: 'none' })
  })

  test('two files with different values of a variable conflict, and a typed value wins', () => {
    const files = [{ environment: ['A=1', 'B'] }, { environment: ['A=2'] }]
    expect(() => combine({}, ...files)).toThrow(
      'file2.yaml:environment: environment: A is given otherwise at file1.yaml:environment',
    )
    expect(combine({ environment: ['A=3'] }, { environment: ['A=1', 'B'] }).environment).toMatchObject({
      items: [{ name: 'A', value: { text: '3' } }, { name: 'B' }],
    })
  })
})

describe('cordon run --policy FILE', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'data', 'words'), 'words\n')
  writeFileSync(join(folder, 'extra'), 'extra\n')
  writeFileSync(join(folder, 'policy.yaml'), 'filesystem:\n  read: [ data ]\nlimits: { wall: 20s }\n')

  test('grants what the file says, options add to it, and the decision names both', () => {
    const run = cordon(
      ['run', '--policy', './policy.yaml', '--read', 'extra', '--facts', 'facts', '--', 'cat', 'data/words', 'extra'],
      { cwd: folder },
    )
    expect(run).toEqual({ status: 0, stdout: 'words\nextra\n', stderr: '' })
    const facts = JSON.parse(readFileSync(join(folder, 'facts'), 'utf8')) as Facts
    expect(facts.permission_decision.decision_reason).toBe(
      'typed on the command line: --read extra, --policy ./policy.yaml',
    )
    expect(facts.permission_state.policy_sources).toEqual(['./policy.yaml'])
    expect(facts.sandbox_profile?.process_limits).toMatchObject({ wall: 20_000 })
    expect(cordon(['run', '--policy', './policy.yaml', '--', 'cat', 'extra'], { cwd: folder }).status).toBe(1)
  })

  test('reports a mistake in the file with its line', () => {
    writeFileSync(join(folder, 'wrong.yaml'), 'filesystem:\n  raed: [ data ]\n')
    const { status, stderr } = cordon(['run', '--policy', './wrong.yaml', '--', 'true'], { cwd: folder })
    expect(status).toBe(125)
    expect(stderr).toBe(
      'cordon: policy-unknown-key: ./wrong.yaml:2: unknown key "raed" in filesystem\nfix: did you mean "read"?\n',
    )
  })
})

describe('cordon policy compare', () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'old.yaml'), 'filesystem: { read: [ data ] }\n')
  writeFileSync(
    join(folder, 'new.yaml'),
    'filesystem: { read: [ data ], write: [ out ] }\nnetwork: [ api.example.org ]\n',
  )
  const compare = (...words: readonly string[]) => cordon(['policy', 'compare', ...words], { cwd: folder })

  test('shows what one policy allows beyond another, with examples', () => {
    const { status, stdout } = compare('new.yaml', 'old.yaml')
    expect(status).toBe(1)
    expect(stdout).toContain('new.yaml allows more than old.yaml:')
    expect(stdout).toContain(`  can write ${join(folder, 'out')}\n`)
    expect(stdout).toContain('api.example.org:443')
    expect(JSON.parse(compare('--json', 'new.yaml', 'old.yaml').stdout)).toMatchObject({
      within: false,
      less: [],
      beyond: expect.arrayContaining([{ kind: 'file', access: 'write', path: join(folder, 'out') }]) as unknown,
    })
  })

  test('says that a policy is within another, and what it lacks', () => {
    const { status, stdout } = compare('old.yaml', 'new.yaml')
    expect(status).toBe(0)
    expect(stdout).toMatch(
      /^within {2}old\.yaml allows nothing that new\.yaml does not\nnew\.yaml allows more than old\.yaml:\n/,
    )
    expect(compare('old.yaml', 'old.yaml')).toEqual({
      status: 0,
      stdout: 'within  old.yaml allows nothing that old.yaml does not\n',
      stderr: '',
    })
  })

  test('needs two policies', () => {
    expect(compare('old.yaml')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('fix: name two: cordon policy compare NEW.yaml OLD.yaml') as string,
    })
  })
})
