// Exit statuses of all commands that run no tool: 1 for a refusal, 2 for an invalid command line or a missing file.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, test } from 'vitest'

import { cordon, cordonLine, cordonProcess, temporaryFolder } from '../../../core/test/cli/cordon.js'

const folder = temporaryFolder()
const nowhere = ['--server', `unix:${join(folder, 'nowhere')}`]
const id = '01a1dfec-9932-7ea1-ade2-a0f44a4eb55f'

describe('the exit status is', () => {
  const UNREACHED = [
    ['log', 'verify', ...nowhere],
    ['log', 'export', '--team', 'acme', ...nowhere],
    ['log', 'prune', '--keep', '400d', ...nowhere],
    ['why', id, ...nowhere],
    ['approvals', 'list', '--team', 'acme', ...nowhere],
    ['team', 'tools', 'list', '--team', 'acme', ...nowhere],
  ]
  const MISUNDERSTOOD = [
    ['log', 'show', join(folder, 'absent')],
    ['why', 'last', '--log', join(folder, 'absent')],
    ['team', 'tools', 'register', join(folder, 'absent'), '--team', 'acme', ...nowhere],
    ['policy', 'show', join(folder, 'absent')],
    ['log', 'export', '--since', 'soon'],
    ['log', 'prune', '--keep', '1h', ...nowhere],
    ['log', 'prune', '--keep', '400d'],
    ['log', 'verify', '--as', 'anna', '--store', 'a', '--server', 'b'],
    ['why', id, '--store', 'a', '--server', 'b'],
    ['serve', '--no-such-option'],
    ['serve', '--statement-timeout', '2d'],
    ['serve', 'now'],
    ['team', 'budget', '--agent', 'a', '--calls', '1', '--per', 'day', ...nowhere],
    ['team', 'tokens', 'create', 'anna', '--days', 'many', '--team', 'acme', ...nowhere],
    ['approvals', 'advance', 'note', '--arguments', '{}', '--reason', 'r', '--for', '7', '--team', 'acme', ...nowhere],
  ]
  test.each(UNREACHED.map((words) => [words]))('1 if the store cannot be reached: %j', (words) => {
    expect(cordonLine(words)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/server-unavailable[^]*^fix: /m) as string,
    })
  })

  test('1 for a socket that is named by a relative path, and the error has the whole path', () => {
    expect(cordon(['team', 'tools', 'list', '--server', 'unix:registry/socket'], { cwd: folder })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`as in unix:${join(folder, 'registry', 'socket')}`) as string,
    })
  })

  test('the same for the program itself', () => {
    for (const words of [
      ['log', 'verify', ...nowhere],
      ['serve', 'now'],
    ])
      expect(cordonProcess(words)).toEqual(cordonLine(words))
  })

  test.each(MISUNDERSTOOD.map((words) => [words]))(
    '2 if the command line is invalid, or names a missing file: %j',
    (words) => {
      expect(cordonLine(words)).toMatchObject({
        status: 2,
        stdout: '',
        stderr: expect.stringMatching(/^fix: /m) as string,
      })
    },
  )
})

test('a mistake in --store creates no store: only serve and team create do', () => {
  const slip = join(folder, 'slip')
  const lines = [
    ['team', 'show'],
    ['approvals', 'list'],
    ['team', 'tools', 'list'],
    ['team', 'tokens', 'create', 'anna'],
    ['log', 'verify'],
    ['why', id],
  ].map((words) => [...words, '--store', slip])
  for (const words of lines)
    expect(cordonLine(words)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(
          `^cordon: store-not-found: there is no store in ${slip}\nfix: .*cordon serve --store ${slip} --init TEAM\n$`,
        ),
      ) as string,
    })
  expect(existsSync(slip)).toBe(false)
  expect(cordon(['team', 'create', 'acme', '--store', slip, '--as', 'ada']).status).toBe(0)
  expect(cordon(['team', 'show', '--store', slip, '--as', 'ada'])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^acme\n/) as string,
  })
})

describe("the registrations of a host's tools", () => {
  const tools = join(folder, 'tools')
  const store = ['--store', join(folder, 'store'), '--as', 'ada']
  beforeAll(() => {
    mkdirSync(tools)
    writeFileSync(
      join(tools, 'text.yaml'),
      'tools:\n  - { name: say, description: Says it, command: [echo, "{text}"], input: { type: object, ' +
        'properties: { text: { type: string } } } }\n  - { name: date, command: [date] }\n',
    )
    writeFileSync(
      join(tools, 'fetch.yaml'),
      'tools: [{ name: fetch, command: [curl, "https://api.example.org"], policy: { network: [api.example.org] } }]',
    )
    expect(cordon(['team', 'create', 'acme', ...store]).status).toBe(0)
  })

  test('are printed as a list, which can be registered from standard input, and stay the same the second time', () => {
    const printed = cordon(['runner', '--tools', tools, '--registrations'])
    expect(printed).toMatchObject({ status: 0, stderr: '' })
    const list = JSON.parse(printed.stdout) as readonly { readonly key: string }[]
    expect(list.map(({ key }) => key).sort()).toEqual(['date', 'fetch', 'say'])
    for (const each of list)
      expect(JSON.parse(cordon(['runner', '--tools', tools, '--registration', each.key]).stdout)).toEqual(each)
    for (let times = 0; times < 2; times += 1) {
      const registered = cordon(['team', 'tools', 'register', '-', ...store], { input: printed.stdout })
      expect({ ...registered, stdout: registered.stdout.trim().split('\n').sort() }).toEqual({
        status: 0,
        stderr: '',
        stdout: [
          'registered date, version 1, of the class none, approval by 1',
          'registered fetch, version 1, of the class write, approval by 1',
          'registered say, version 1, of the class none, approval by 1',
        ],
      })
    }
  })

  test('are for one tool or all', () => {
    expect(cordon(['runner', '--tools', tools, '--registrations', '--registration', 'say']).stderr).toContain(
      '--registration prints one tool, --registrations all of them',
    )
    expect(cordon(['runner', '--registrations']).stderr).toContain('a runner needs tools')
  })
})
