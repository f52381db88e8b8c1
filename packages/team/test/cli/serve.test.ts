// A team from nothing to an approved call: a server, a runtime in another process, a person at a terminal.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CORE, TEAM, linkPackages } from '../../../../test/repository.js'
import { IN_MATRIX } from '../../../../test/turns.js'
import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'

import { CORDON, NODE_OPTIONS, cordon, cordonLine, temporaryFolder } from '../../../core/test/cli/cordon.js'
import type { Ran } from '../../../core/test/cli/cordon.js'
import { atTerminal } from '../../../core/test/cli/terminal.js'

const folder = temporaryFolder()
const store = join(folder, 'store')
const file = (name: string, text: string, mode = 0o600): string => {
  const path = join(folder, name)
  writeFileSync(path, text, { mode })
  return path
}

/** In somebody's name, through whatever has the store. */
const as = (actor: string, ...words: readonly string[]): Ran => cordon([...words, '--store', store, '--as', actor])
const json = (ran: Ran): unknown => (ran.status === 0 ? (JSON.parse(ran.stdout) as unknown) : expect.fail(ran.stderr))

let server: ChildProcess
let address = ''

const startServer = async (): Promise<void> => {
  server = spawn(
    process.execPath,
    [...NODE_OPTIONS, CORDON, 'serve', '--store', store, '--as', 'ada', '--listen', '127.0.0.1:0', '--json'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const line = await new Promise<string>((resolve, reject) => {
    server.stdout?.setEncoding('utf8').once('data', resolve)
    server.once('exit', (status) => {
      reject(new Error(`cordon serve ended with ${String(status)}`))
    })
  })
  address =
    (JSON.parse(line) as { listening: readonly string[] }).listening.find((each) => each.startsWith('http')) ?? ''
}
const endServer = (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> =>
  new Promise((resolve) => {
    server.removeAllListeners('exit')
    server.once('exit', resolve)
    server.kill(signal)
  })

const NOTE = `
key: note
description: Writes a note
egress_class: write
input: { type: object, properties: { file: { type: string } }, required: [file] }
definition:
  kind: process
  command: [sh, -c, 'echo noted > "$0"', '{file}']
  policy: { filesystem: { write: ['.'] }, network: [api.example.org] }
`

beforeAll(async () => {
  // Nobody serves it yet: the folder itself.
  expect(as('ada', 'team', 'create', 'acme')).toMatchObject({ status: 0, stdout: 'created acme; ada is its admin\n' })
  await startServer()
  expect(as('ada', 'team', 'add', 'anna', 'operator').status).toBe(0)
  expect(as('ada', 'team', 'add', 'agent-1', 'agent', 'runner').status).toBe(0)
  expect(as('ada', 'team', 'tools', 'register', file('note.yaml', NOTE))).toMatchObject({
    status: 0,
    stdout: 'registered note, version 1, of the class write, approval by 1\n',
  })
  expect(as('ada', 'team', 'tools', 'assign', 'note', 'agent-1').status).toBe(0)
  expect(as('ada', 'team', 'tokens', 'create', 'agent-1', '--out', join(folder, 'agent.token')).status).toBe(0)
})
afterAll(async () => {
  if (server.exitCode === null) await endServer()
})

const ROOT = TEAM
const RUNTIME = join(CORE, 'dist/bundle/library/runtime.js')

/** Another process, with a runtime whose calls are in the registry of the team. */
const callNote = (input: object): { readonly result: Promise<unknown> } => {
  const program = file(
    'app.mjs',
    `
    import { readFileSync } from 'node:fs'
    import { createCordon, processTool } from ${JSON.stringify(RUNTIME)}
    import { teamRegistry } from ${JSON.stringify(join(TEAM, 'dist/bundle/team.js'))}
    const [server, tokenFile, workspace, input] = process.argv.slice(2)
    const cordon = await createCordon({
      workspace,
      registry: teamRegistry({
        server, token: readFileSync(tokenFile, 'utf8').trim(), owner: 'acme', agent: 'agent-1', runner: 'app',
      }),
      rules: [{ rules: [{ effect: 'allow', tool: ['note'], because: 'the registry decides' }] }],
      tools: [processTool({ name: 'note', description: 'writes', input: { type: 'object' }, policy: { filesystem: { write: ['.'] }, network: ['api.example.org'] }, command: ({ file }) => ['sh', '-c', 'echo noted > "$0"', file] })],
    })
    const { status, reason } = await cordon.call('note', JSON.parse(input))
    await cordon.close()
    console.log(JSON.stringify({ status, reason }))
  `,
  )
  const child = spawn(
    process.execPath,
    [program, address, join(folder, 'agent.token'), folder, JSON.stringify(input)],
    { stdio: ['ignore', 'pipe', 'inherit'], timeout: ENDS_WHAT_HANGS_MS },
  )
  const result = new Promise((resolve) => {
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more
    })
    child.on('close', () => {
      resolve(text === '' ? undefined : JSON.parse(text))
    })
  })
  return { result }
}

interface Listed {
  readonly subjectId: string
  readonly argumentsHash: string
}

const onlyQuestion = async (): Promise<Listed> => {
  let found: readonly Listed[] = []
  await expect
    .poll(() => (found = json(as('anna', 'approvals', 'list', '--json')) as readonly Listed[]).length, {
      interval: 300,
    })
    .toBe(1)
  return found[0] ?? expect.fail('nothing is asked')
}

describe('a call of another process', () => {
  test('waits for a person at a terminal, who sees exactly what will run and its boundary, and then runs', async () => {
    const { result } = callNote({ file: 'yes.txt' })
    const { subjectId } = await onlyQuestion()
    expect(as('anna', 'approvals', 'approve', subjectId).stderr).toContain(
      `cordon approvals show ${subjectId} --store ${store} --as anna; then give the hash that it prints: ` +
        `cordon approvals approve ${subjectId} --hash HASH --store ${store} --as anna`,
    )
    expect(as('anna', 'approvals', 'show', subjectId).stdout).toMatch(
      /checked +kind, command, policy, by the calling\s+runtime; the\s+rest\s+is\s+claimed,\s+not\s+checked/,
    )
    const { output, status } = atTerminal(
      [
        process.execPath,
        ...NODE_OPTIONS,
        CORDON,
        'approvals',
        'approve',
        subjectId.slice(-12),
        '--store',
        store,
        '--as',
        'anna',
      ],
      [{ expect: 'yes or no? ' }, { send: 'perhaps\r' }, { expect: 'yes or no? ' }, { send: 'y\r' }],
    )
    expect(status).toBe(0)
    for (const part of [
      'note, version 1: Writes a note',
      'write: it may change',
      'agent-1',
      '  | {',
      '"file": "yes.txt"',
      'sha256:',
      `sh -c 'echo noted > "$0"' '{file}'`,
      '  |   write:',
      '  |   - api.example.org',
      `approved\u001b[0m ${subjectId}`,
    ])
      expect(output).toContain(part)
    expect(await result).toMatchObject({ status: 'ok' })
    expect(readFileSync(join(folder, 'yes.txt'), 'utf8')).toBe('noted\n')
    const why = as('anna', 'why', subjectId)
    expect(why.stdout).toMatch(/^note is completed; approved by anna/)
    expect(why.stdout).toContain('invocation.completed')
  })

  test('survives a restart of the server, and does not run if the person rejects it', IN_MATRIX, async () => {
    const { result } = callNote({ file: 'no.txt' })
    const { subjectId } = await onlyQuestion()
    const port = address.split(':').at(-1) ?? ''
    expect(await endServer()).toBe(0)
    expect(existsSync(join(store, 'socket'))).toBe(false)
    server = spawn(
      process.execPath,
      [...NODE_OPTIONS, CORDON, 'serve', '--store', store, '--as', 'ada', '--listen', `127.0.0.1:${port}`],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    await new Promise((resolve) => server.stdout?.once('data', resolve))
    expect(as('anna', 'approvals', 'reject', subjectId, '--reason', 'not this file')).toMatchObject({
      status: 0,
      stdout: `rejected ${subjectId}\n`,
    })
    expect(await result).toMatchObject({ status: 'denied', reason: expect.stringContaining('not this file') as string })
    expect(existsSync(join(folder, 'no.txt'))).toBe(false)
  })

  test('with escape sequences in its arguments is shown escaped', IN_MATRIX, async () => {
    const { result } = callNote({
      file: '\u001b[2K\u001b[1Aharmless.txt\u202e\u0085\u009b31m\n  tool       cat',
    })
    const { subjectId, argumentsHash } = await onlyQuestion()
    const shown = as('anna', 'approvals', 'show', subjectId).stdout
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(shown.split('\n').filter((line) => line.startsWith('  tool'))).toEqual([
      '  tool       note, version 1: Writes a note',
    ])
    expect(shown).toContain('\\u001b[2K')
    expect(shown).toContain('\\u{202e}')
    expect(as('anna', 'approvals', 'show', subjectId, '--json').stdout).not.toMatch(/[\u007f-\u009f\u202e]/)
    // Nobody to ask, and no hash of what was seen: nothing is approved. With that of something else, neither.
    expect(as('anna', 'approvals', 'approve', subjectId)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--hash') as string,
    })
    expect(as('anna', 'approvals', 'approve', subjectId, '--hash', `sha256:${'0'.repeat(64)}`)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('not those that were looked at') as string,
    })
    expect(as('agent-1', 'approvals', 'approve', subjectId, '--hash', argumentsHash)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('store-refused') as string,
    })
    expect(json(as('anna', 'approvals', 'approve', subjectId, '--hash', argumentsHash, '--json'))).toEqual({
      id: subjectId,
      status: 'approved',
    })
    expect(await result).toBeDefined()
  })
})

describe('a token', () => {
  const served = (environment: Readonly<Record<string, string>>, ...words: readonly string[]): Ran =>
    cordon(['team', 'show', '--json', '--server', address, ...words], { environment })
  const token = () => readFileSync(join(folder, 'agent.token'), 'utf8').trim()

  test('comes from the environment or a private file, never from the command line', () => {
    expect(statSync(join(folder, 'agent.token')).mode & 0o777).toBe(0o600)
    expect(json(served({ CORDON_TOKEN: token() }))).toMatchObject({ team: 'acme' })
    expect(json(served({}, '--token-file', join(folder, 'agent.token')))).toMatchObject({ team: 'acme' })
    expect(served({}, '--token', token())).toMatchObject({ status: 2 })
    expect(served({})).toMatchObject({ status: 1, stderr: expect.stringContaining('request-') as string })
    chmodSync(join(folder, 'agent.token'), 0o644)
    expect(served({}, '--token-file', join(folder, 'agent.token'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('token-unsafe') as string,
    })
    chmodSync(join(folder, 'agent.token'), 0o600)
  })

  test('is listed without its secret, and is invalid once revoked', () => {
    const made = json(as('ada', 'team', 'tokens', 'create', 'anna', '--json', '--label', 'phone')) as {
      readonly id: string
      readonly token: string
    }
    const listed = as('ada', 'team', 'tokens', 'list').stdout
    expect(listed).toContain('phone')
    expect(listed).not.toContain(made.token)
    expect(json(served({ CORDON_TOKEN: made.token }))).toMatchObject({ team: 'acme' })
    expect(as('ada', 'team', 'tokens', 'revoke', made.id).status).toBe(0)
    expect(served({ CORDON_TOKEN: made.token })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('request-unauthenticated') as string,
    })
  })
})

test('a served folder cannot be opened by another process', () => {
  const { status, stderr } = cordon(['serve', '--store', store, '--socket', join(folder, 'other')])
  expect(status).toBe(1)
  expect(stderr).toMatch(/listen-refused: .*it is served already, at unix:.*\/store\/socket\nfix: use it/)
})

test('a server that cannot listen reports it and exits, and leaves the store to others', () => {
  const own = join(folder, 'unserved')
  expect(cordon(['serve', '--store', own, '--listen', '0.0.0.0:0'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('in the clear') as string,
  })
  expect(existsSync(join(own, 'data'))).toBe(false)
  expect(cordon(['serve', '--store', own, '--listen', '0.0.0.0:0', '--plain-http'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('there is no token yet') as string,
  })
  expect(cordon(['serve', '--store', own, '--listen', address.replace('http://', '')])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('EADDRINUSE') as string,
  })
  expect(cordon(['team', 'create', 'other', '--store', own]).status).toBe(0)
})

test.each([
  ['a file', () => join(folder, 'a-file')],
  ['a folder below a file', () => join(folder, 'a-file', 'store')],
  ['a folder of /proc', () => '/proc/store'],
  ['/proc itself', () => '/proc'],
])('a store in %s is refused with a fix', (_, place) => {
  writeFileSync(join(folder, 'a-file'), '')
  for (const words of [['serve'], ['team', 'create', 'other']])
    expect(cordon([...words, '--store', place()])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /^cordon: store-folder-unusable: .*\nfix: name a folder that you can write to/,
      ) as string,
    })
})

test('a client without a token gets an error that says how to give one', () => {
  const { status, stderr } = cordon(['approvals', 'list', '--server', address])
  expect(status).toBe(1)
  expect(stderr).toMatch(/there is no token for http:.*\nfix: set CORDON_TOKEN, or name its file with --token-file/)
})

test('a refusal comes with the command that helps', () => {
  expect(as('ada', 'team', 'create', 'acme')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/the team acme exists already\nfix: .*cordon team add NAME operator/) as string,
  })
  expect(as('ada', 'team', 'tools', 'assign', 'note', 'nobody')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/nobody is no agent of acme\nfix: .*cordon team add NAME agent/) as string,
  })
  expect(as('agent-1', 'team', 'pause', '--reason', 'x')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('cordon team add agent-1 admin|operator') as string,
  })
})

test('a stopped agent cannot call until it is resumed', () => {
  expect(as('anna', 'team', 'stop', '--tool', 'note', '--reason', 'incident 7').stdout).toBe('stopped: tool note\n')
  expect(as('agent-1', 'team', 'show').stdout).toContain('incident 7')
  expect(as('agent-1', 'team', 'resume', '--tool', 'note')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('store-refused') as string,
  })
  expect(as('anna', 'team', 'resume', '--tool', 'note').status).toBe(0)
  expect((json(as('anna', 'team', 'show', '--json')) as { stops: unknown }).stops).toEqual([])
})

test(
  'a tool is refused with its file and line, and one that claims to reach nobody with a network in its policy ' +
    'is refused by the database',
  () => {
    expect(as('ada', 'team', 'tools', 'register', file('typo.yaml', 'key: x\negress_clas: none\n'))).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/typo\.yaml:2: unknown key "egress_clas"[^]*did you mean "egress_class"/) as string,
    })
    expect(
      as(
        'ada',
        'team',
        'tools',
        'register',
        file('liar.yaml', 'key: liar\negress_class: none\ndefinition: { policy: { network: [api.example.org] } }\n'),
      ),
    ).toMatchObject({ status: 1, stderr: expect.stringContaining('its policy grants a network') as string })
    expect(
      as(
        'ada',
        'team',
        'tools',
        'register',
        file(
          'honest.yaml',
          'key: honest\negress_class: none\nrequires_approval: false\ndefinition: { policy: { network: none } }\n',
        ),
      ).stdout,
    ).toBe('registered honest, version 1, of the class none, approval none\n')
    expect(as('ada', 'team', 'tools', 'list').stdout).toMatch(
      /^TOOL +VERSION +CLASS +APPROVAL +STATE +AGENTS\nhonest +1 +none +none +active +\nnote +1 +write +by 1 +active +agent-1\n$/,
    )
  },
)

describe('an invalid command exits with 2 and a suggestion:', () => {
  const MISUNDERSTOOD = [
    ['approvals'],
    ['approvals', 'aprove'],
    ['approvals', 'show'],
    ['approvals', 'reject', 'x'],
    ['team', 'tools', 'assign', 'x'],
    ['team', 'add', 'x', 'boss'],
    ['team', 'tokens', 'create'],
    ['approvals', 'list', '--store', 'a', '--server', 'b'],
  ]
  const lineOf = (words: readonly string[]) =>
    words.includes('--store') ? words : [...words, '--store', store, '--as', 'anna']

  test.each(MISUNDERSTOOD.map((words) => [words]))('%j', (words) => {
    const { status, stderr } = cordonLine(lineOf(words))
    expect({ status, hint: /^fix: /m.test(stderr) }).toEqual({ status: 2, hint: true })
  })
})

test('an unreachable server is reported with a fix', () => {
  expect(cordon(['approvals', 'list', '--server', `unix:${join(folder, 'nowhere')}`, '--team', 'acme'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/server-unavailable[^]*fix: check that cordon serve runs/) as string,
  })
})

test(
  'the five commands of docs/serve.md lead from an empty folder to an approved call of an agent',
  IN_MATRIX,
  async () => {
    const page =
      readFileSync(join(ROOT, 'docs', 'serve.md'), 'utf8').split('## From nothing to an approved call')[1] ?? ''
    const printed = (language: string): string =>
      new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? expect.fail(language)
    const commands = printed('console')
      .split('\n')
      .flatMap((line) =>
        line.startsWith('$ ')
          ? [
              line
                .slice(2)
                .replace(/\s+#.*$/, '')
                .split(' '),
            ]
          : [],
      )
    expect(commands.map(([program, ...words]) => [program, words[0]])).toEqual([
      ['cordon', 'serve'],
      ['cordon', 'team'],
      ['node', 'agent.mjs'],
      ['cordon', 'approvals'],
      ['cordon', 'why'],
    ])
    const place = temporaryFolder()
    const environment = { PATH: process.env['PATH'] ?? '', HOME: join(place, 'home') }
    const [work, home] = [join(place, 'work'), join(place, 'home')]
    for (const each of [work, home]) mkdirSync(each)
    linkPackages(work, 'cordon', '@cordon/team')
    const words = (at: number): readonly string[] =>
      (commands[at] ?? [])
        .map((word) => (word === '127.0.0.1:7070' ? '127.0.0.1:0' : word))
        .flatMap((word) =>
          word === 'cordon'
            ? [process.execPath, ...NODE_OPTIONS, CORDON]
            : word === 'node'
              ? [process.execPath]
              : [word],
        )
    const start = (at: number) =>
      spawn(words(at)[0] ?? '', words(at).slice(1), {
        cwd: work,
        env: environment,
        stdio: ['ignore', 'pipe', 'inherit'],
        timeout: ENDS_WHAT_HANGS_MS,
      })
    const saidBy = (child: ChildProcess, until: RegExp) =>
      new Promise<string>((resolve) => {
        let text = ''
        child.stdout?.setEncoding('utf8').on('data', (more: string) => {
          text += more
          if (until.test(text)) resolve(text)
        })
      })
    const served = start(0)
    const address = /http:\S+/.exec(await saidBy(served, /http:\S+\n/))?.[0] ?? ''
    try {
      writeFileSync(join(work, 'note.yaml'), printed('yaml'))
      writeFileSync(join(work, 'agent.mjs'), printed('js').replace('http://127.0.0.1:7070', address))
      expect(await saidBy(start(1), /assigned/)).toContain('assigned note to agent-1')
      const waiting = () =>
        spawnSync(process.execPath, [...NODE_OPTIONS, CORDON, 'approvals', 'list'], {
          env: environment,
          encoding: 'utf8',
        }).stdout
      // An agent that is stopped takes its question back.
      const stopped = start(2)
      await expect.poll(waiting, { interval: 500 }).toContain('note 1')
      stopped.kill('SIGTERM')
      await expect.poll(waiting, { interval: 500 }).toBe('nobody waits for an approval\n')
      const agent = start(2)
      const ended = saidBy(agent, /\n/)
      const cordonHere = (...given: readonly string[]) => [
        'env',
        '-u',
        'XDG_STATE_HOME',
        `HOME=${home}`,
        process.execPath,
        ...NODE_OPTIONS,
        CORDON,
        ...given,
      ]
      await expect.poll(waiting, { interval: 500 }).toContain('note 1')
      atTerminal(cordonHere(...(commands[3] ?? []).slice(1)), [
        { expect: 'yes or no?' },
        { send: 'yes\r' },
        { expect: 'approved' },
      ])
      expect(await ended).toBe('ok \n')
      const explained = spawnSync(words(4)[0] ?? '', words(4).slice(1), {
        cwd: work,
        env: environment,
        encoding: 'utf8',
      })
      expect(explained).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^note is completed; approved by /) as string,
      })
      // Without the team it is the log of this host that is asked, which has none of it.
      expect(
        spawnSync(process.execPath, [...NODE_OPTIONS, CORDON, 'why', 'last', '--log', join(place, 'absent')], {
          env: environment,
          encoding: 'utf8',
        }).stderr,
      ).toContain('for a call of a team: cordon why ID (see: cordon team calls list)')
      expect(readFileSync(join(work, 'a.txt'), 'utf8')).toBe('noted\n')
      const { members } = JSON.parse(
        spawnSync(process.execPath, [...NODE_OPTIONS, CORDON, 'team', 'show', '--json'], {
          env: environment,
          encoding: 'utf8',
        }).stdout,
      ) as { members: readonly { actor: string; kinds: readonly string[] }[] }
      expect(members.find(({ actor }) => actor === 'agent-1')?.kinds).toEqual(['agent'])
      expect(statSync(join(home, '.local', 'state', 'cordon', 'agent-1.token')).mode & 0o077).toBe(0)
    } finally {
      served.kill('SIGTERM')
      await new Promise((resolve) => {
        served.once('exit', resolve)
      })
    }
    const token = join(home, '.local', 'state', 'cordon', 'agent-1.token')
    const againSaid = (isWithToken: boolean): Promise<string> => {
      if (!isWithToken) rmSync(token)
      const again = spawn(words(0)[0] ?? '', words(0).slice(1), {
        cwd: work,
        env: environment,
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: ENDS_WHAT_HANGS_MS,
      })
      return new Promise((resolve) => {
        again.stderr.setEncoding('utf8').once('data', (text: string) => {
          again.kill('SIGTERM')
          again.once('exit', () => {
            resolve(text)
          })
        })
      })
    }
    expect(await againSaid(true)).toBe(
      `cordon: the team acme exists already, and is left as it is; the token of agent-1 is in ${token}\n`,
    )
    expect(await againSaid(false)).toBe(
      'cordon: the team acme exists already, and is left as it is; a new token: cordon team tokens create agent-1 ' +
        `--out ${token}\n`,
    )
  },
)
