// Messages of commands about a store: wrong arguments, standing approvals, a call.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { openServedTeam } from './served-team.js'
import type { ServedTeam } from './served-team.js'

let team: ServedTeam
beforeAll(async () => {
  team = await openServedTeam()
  await team.register('send', { egressClass: 'write' })
})
afterAll(() => team.close())

const FORM = '{"type":"object","properties":{"to":{"const":"bob"}},"required":["to"],"additionalProperties":false}'
const file = (name: string, text: string): string => {
  writeFileSync(join(team.folder, name), text)
  return join(team.folder, name)
}

test('standing approvals are listed, and revoked by a part of their id', () => {
  expect(team.as('anna', 'approvals', 'advance', 'send').stderr).toContain(
    `--arguments '{"type":"object","properties":`,
  )
  const { id } = team.json(
    'anna',
    'approvals',
    'advance',
    'send',
    '--arguments',
    FORM,
    '--reason',
    'every night',
    '--uses',
    '3',
  ) as { readonly id: string }
  const listed = team.as('anna', 'approvals', 'list', '--standing').stdout
  expect(listed).toMatch(/^APPROVAL +TOOL +AGENT +USES +UNTIL +BY +ARGUMENTS +WHY\n/)
  for (const text of [id, 'send 1', 'anna', '"const":"bob"', 'every night']) expect(listed).toContain(text)
  expect(team.as('anna', 'approvals', 'revoke', 'ffff').stderr).toContain('cordon approvals list --standing has them')
  expect(team.as('anna', 'approvals', 'revoke', id.slice(-8))).toMatchObject({ status: 0, stdout: `revoked ${id}\n` })
  expect(team.as('anna', 'approvals', 'list', '--standing').stdout).toMatch(/^nothing is approved in advance/)
})

describe('a wrong argument is named as it was typed', () => {
  test.each([
    [['approvals', 'advance', 'send', '--arguments', '[]', '--reason', 'x'], /--arguments is a JSON Schema/],
    [
      ['approvals', 'advance', 'send', '--arguments', FORM, '--reason', 'x', '--uses', 'two'],
      /--uses is a number from 1/,
    ],
    [['log', 'prune', '--keep', '400'], /--keep needs a number of days, such as 400d: 400/],
  ])('%j', (words, said) => {
    expect(team.as('anna', ...words)).toMatchObject({ status: 2, stderr: expect.stringMatching(said) as string })
  })

  test(
    'a hash that is none, before anything is asked; the commands to type next have the store and the name that ' +
      'were typed',
    async () => {
      const id = await team.invoke('send', { to: 'bob' })
      const { status, stderr } = team.as('anna', 'approvals', 'approve', id, '--hash', 'sha256:00')
      expect({ status, stderr }).toEqual({
        status: 2,
        stderr: expect.stringContaining(
          `--hash is the whole hash that cordon approvals show ${id} --server ${team.server} --as anna prints`,
        ) as string,
      })
      expect(stderr).not.toMatch(/shownHash|openapi/)
      expect(team.as('anna', 'approvals', 'approve', id).stderr).toContain(
        `cordon approvals approve ${id} --hash HASH --server ${team.server} --as anna`,
      )
    },
  )

  test('an invalid name is reported with its option', () => {
    const { stderr } = team.as('ada', 'team', 'budget', '--agent', 'a b', '--calls', '1', '--per', '1h')
    expect(stderr).toMatch(/must be a name[^]*fix: see: cordon team --help/)
    expect(team.as('ada', 'team', 'tools', 'list', '--team', 'a/b').stderr).toMatch(/--team must be a name/)
  })

  test('invalid JSON, and invalid YAML with its line', () => {
    expect(
      team.as('ada', 'team', 'tools', 'register', file('tools.json', '[\n  { "key": "x" "name": "y" }\n]')),
    ).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(
        /file-syntax: .*tools\.json:2 is not valid JSON: [^]*fix: name a file with the tool/i,
      ) as string,
    })
    expect(team.as('ada', 'team', 'tools', 'register', file('tools.yaml', 'key: x\nname: "open\n'))).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/file-syntax: .*tools\.yaml:\d is not valid YAML: /) as string,
    })
  })
})

test('cordon why describes the usage of a call, and breaks lines between words', async () => {
  await team.register('post', {
    egressClass: 'read_only',
    requiresApproval: false,
    description:
      'Posts a letter to somebody who lives far away and is told of it by somebody else, who has to come by here anyway',
  })
  const id = await team.invoke('post')
  const { fence } = await team.claim(id)
  await team.by('bot').ask('complete', {
    id,
    fence,
    status: 'completed',
    usage: {
      'a\u001b[2K': 1,
      'something that is long': 'x',
      'status': 'ok',
      'duration_ms': 7,
      'wall_ms': 61_000,
      'cpu_ms': 1500,
      'max_rss_bytes': 2_500_000,
      'boundary': {
        mode: 'sandbox',
        form: 'namespaces',
        network: 'none',
        enforced: { files: ['mount-namespace', 'landlock'], network: [] },
        violations: ['it tried to connect'],
      },
    },
  })
  for (const words of [[id], [id.slice(-12), '--team', 'acme'], ['last']]) {
    const { stdout } = team.as('anna', 'why', ...words)
    for (const text of [
      'used       1 min 1 s wall, 1.5 s cpu, 2.5 MB memory\n',
      'cell       namespaces, network none\n',
      'enforced   files: mount-namespace, landlock\n',
      'network: not restricted',
      'refused    it tried to connect',
    ])
      expect(stdout).toContain(text)
    expect(stdout).not.toMatch(/\{"|\u001b/)
    expect(stdout).toContain('other      something that is long: x\n')
    expect(stdout.split('\n').filter((line) => line.length > 120)).toEqual([])
  }
})

test('a log without access is an error, not an empty export', () => {
  expect(team.as('bot', 'log', 'export', '--team', 'acme')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/bot is no admin or operator of acme\nfix: .*--as NAME/) as string,
  })
  expect(team.as('anna', 'log', 'export', '--team', 'acme')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('member.added') as string,
  })
})

test('old data is dropped only in the named store', () => {
  expect(team.as('ada', 'log', 'prune', '--keep', '400d').stdout).toMatch(
    new RegExp(`^nothing in ${team.server} is older than 400 days`),
  )
})
