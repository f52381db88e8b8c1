// The examples of deploy/ work: a database that the command line prepared, and the logins of the example.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { readDocument } from 'cordon/policy'
import { CORDON, REPOSITORY } from '../../../../test/repository.js'
import { openPostgres } from '../../src/store/index.js'
import { readAs } from '../../../../test/cli/helps.js'
import { needs } from '../../../../test/requirement.js'
import { startServer } from '../store/server.js'
import type { Server } from '../store/server.js'
import { IN_MATRIX } from '../../../../test/turns.js'

const ROOT = REPOSITORY
let server: Server
beforeAll(() => {
  server = startServer()
})
afterAll(() => {
  server.remove()
})
const cordon = (...words: readonly string[]) =>
  execFileSync(process.execPath, [CORDON, ...words], {
    env: { PATH: process.env['PATH'], CORDON_DATABASE: server.url() },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })

test('a database can be prepared twice, and the logins of the example are members of the team', async () => {
  cordon('runner', '--prepare')
  cordon('runner', '--prepare')
  const engine = openPostgres({ url: server.url() })
  const logins = readFileSync(join(ROOT, 'deploy', 'logins.sql'), 'utf8')
  await engine.execute(logins)
  await engine.execute(logins)
  expect(await engine.query('select actor, kind from agents.members order by actor')).toEqual([
    { actor: 'ada', kind: 'admin' },
    { actor: 'agent-1', kind: 'agent' },
    { actor: 'anna', kind: 'operator' },
    { actor: 'postgres', kind: 'admin' },
    { actor: 'runner', kind: 'runner' },
  ])
  // An agent runs its calls itself, without being a runner; somebody who only approves runs none.
  const [agent, anna] = [openPostgres({ url: server.url('agent-1') }), openPostgres({ url: server.url('anna') })]
  const heartbeat = (by: typeof agent) =>
    by.query(`select agents.fn_heartbeat('laptop/0', '{}', '{}', '{}', false, '1 minute')`)
  expect(await heartbeat(agent)).toHaveLength(1)
  await expect(heartbeat(anna)).rejects.toMatchObject({ code: 'store-refused' })
  await agent.close()
  await anna.close()
  await engine.close()
})

test(
  'a database that was not prepared is refused with the way out, and so is what is no tool; a tool is shown as ' +
    'the registry takes it',
  IN_MATRIX,
  () => {
    const problem = (...words: readonly string[]): string => {
      try {
        cordon(...words)
        return 'it worked'
      } catch (error) {
        return String((error as { stderr?: unknown }).stderr)
      }
    }
    const folder = mkdtempSync(join(tmpdir(), 'cordon-deploy-'))
    const tools = join(folder, 'tools.yaml')
    writeFileSync(tools, 'tools: [{ name: say, command: [echo, "{text}"] }]')
    expect(problem('runner', '--database', server.url('postgres', 'template1'), '--tools', tools)).toContain(
      'runner-queue-missing',
    )
    expect(problem('team', 'tools', 'list', '--database', server.url('postgres', 'template1'))).toMatch(
      /store-not-prepared: .*\nfix: .*cordon runner --prepare/,
    )
    expect(JSON.parse(cordon('runner', '--tools', tools, '--registration', 'say'))).toMatchObject({
      key: 'say',
      egress_class: 'none',
      definition: {
        kind: 'process',
        command: ['echo', '{text}'],
        hash: expect.stringMatching(/^sha256:/) as string,
        policy: {},
      },
    })
    rmSync(folder, { recursive: true })
    expect(problem('runner', '--tools', join(ROOT, 'package.json'))).toContain('unknown key')
    expect(problem('runner', '--concurrency', '0', '--tools', join(ROOT, 'package.json'))).toContain('from 1 to 1000')
  },
)

interface Service {
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

const SERVICES = (
  readDocument(readFileSync(join(ROOT, 'deploy', 'docker-compose.yaml'), 'utf8'), 'docker-compose.yaml').value as {
    readonly services: Readonly<Record<string, Service>>
  }
).services

/** What stands behind "cordon" in the command of a service, or of a unit. */
const wordsOf = (command: readonly string[]): readonly string[] => {
  const at = command.findIndex((word) => word === 'cordon' || word.endsWith('/cordon'))
  return at === -1 ? [] : command.slice(at + 1)
}

test(
  'the compose file has a database, its preparation, logins, tokens, a server and runners, and says nothing ' +
    'that their commands do not understand',
  () => {
    expect(Object.keys(SERVICES)).toEqual(['database', 'prepare', 'logins', 'tokens', 'serve', 'runner'])
    const read = Object.fromEntries(
      Object.entries(SERVICES).map(
        ([name, { command = [] }]) =>
          [
            name,
            wordsOf(command.flatMap((word) => (word.includes('cordon tokens') ? word.split(/[ ;]+/) : [word]))),
          ] as const,
      ),
    )
    expect(Object.fromEntries(Object.entries(read).map(([name, [command]]) => [name, command]))).toEqual({
      database: undefined,
      prepare: 'runner',
      logins: undefined,
      tokens: 'tokens',
      serve: 'serve',
      runner: 'runner',
    })
    expect(readAs('runner', read['prepare']?.slice(1) ?? []).switches).toEqual(new Set(['prepare']))
    expect(readAs('runner', read['runner']?.slice(1) ?? [])).toMatchObject({ rest: [] })
    expect(readAs('serve', read['serve']?.slice(1) ?? [])).toMatchObject({ rest: [] })
    // The server has a login of its own, and nobody but those who prepare has the owner's.
    expect(
      Object.entries(SERVICES).flatMap(
        ([name, { environment }]) =>
          /\/\/(\w+):/
            .exec(environment?.['CORDON_DATABASE'] ?? '')
            ?.slice(1)
            .map((login) => `${name}: ${login}`) ?? [],
      ),
    ).toEqual(['prepare: postgres', 'tokens: postgres', 'serve: cordon_serve', 'runner: runner'])
  },
)

test.each(['runner', 'serve'])('the unit of %s uses options that exist', (name) => {
  const unit = readFileSync(join(ROOT, 'deploy', `cordon-${name}.service`), 'utf8')
  const [command = '', ...words] = wordsOf(/^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? [])
  expect(command).toBe(name)
  const optional = Array.from(unit.matchAll(/^# {3}RUNNER_OPTIONS=(.*?)(?: {2,}.*)?$/gm), ([, text = '']) =>
    text.split(' '),
  ).flat()
  expect(
    readAs(
      command,
      words.flatMap((word) => (word === '$RUNNER_OPTIONS' ? optional : [word])),
    ),
  ).toMatchObject({ rest: [] })
})

test.for(['runner', 'serve'])(
  'systemd-analyze accepts the unit of %s, and finds a planted mistake',
  IN_MATRIX,
  (name, context) => {
    needs(context, spawnSync('systemd-analyze', ['--version']).status === 0, 'systemd-analyze is not installed')
    const folder = mkdtempSync(join(tmpdir(), 'cordon-deploy-'))
    const verify = (change: (unit: string) => string): string => {
      const file = join(folder, `cordon-${name}.service`)
      // It looks for the program, which is not installed here.
      writeFileSync(
        file,
        change(
          readFileSync(join(ROOT, 'deploy', `cordon-${name}.service`), 'utf8').replace(
            /^ExecStart=cordon /m,
            `ExecStart=${CORDON} `,
          ),
        ),
      )
      const { stdout, stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
        encoding: 'utf8',
      })
      return `${stdout}${stderr}${String(status)}`
    }
    try {
      expect(verify((unit) => unit)).toBe('0')
      expect(verify((unit) => unit.replace('Restart=', 'Restrat='))).toContain('Restrat')
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)

test(
  'the server of the compose file begins with its own words, once there are tokens, and who approves reaches ' +
    'it by theirs',
  IN_MATRIX,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cordon-deploy-'))
    const here = (text: string): string =>
      text
        .replaceAll('$$', '$')
        .replaceAll('npx --yes --package=cordon -- cordon', `"${process.execPath}" "${CORDON}"`)
        .replaceAll('/tokens/', `${folder}/`)
    const [shell = '', ...script] = (SERVICES['tokens']?.command ?? []).map(here)
    const makeTokens = () =>
      execFileSync(shell, script, {
        env: { PATH: process.env['PATH'], CORDON_DATABASE: server.url() },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    const words = wordsOf(SERVICES['serve']?.command ?? []).map((word) =>
      word === '0.0.0.0:7070' ? '0.0.0.0:0' : word,
    )
    const login = server.url('cordon_serve')
    const start = () =>
      spawn(process.execPath, [CORDON, ...words, '--json'], {
        env: { PATH: process.env['PATH'], CORDON_DATABASE: login },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    const early = start()
    const told = new Promise<string>((resolve) => early.stderr.setEncoding('utf8').once('data', resolve))
    expect(await new Promise((resolve) => early.once('exit', resolve))).toBe(1)
    expect(await told).toContain('there is no token yet')
    makeTokens()
    const files = ['agent-1', 'anna', 'ada'].map((who) => readFileSync(join(folder, `${who}.token`), 'utf8'))
    makeTokens()
    expect(['agent-1', 'anna', 'ada'].map((who) => readFileSync(join(folder, `${who}.token`), 'utf8'))).toEqual(files)
    const served = start()
    try {
      const {
        listening: [address = ''],
      } = JSON.parse(
        await new Promise<string>((resolve) => served.stdout.setEncoding('utf8').once('data', resolve)),
      ) as {
        readonly listening: readonly string[]
      }
      const reached = address.replace('0.0.0.0', '127.0.0.1')
      const ask = (who: string, ...asked: readonly string[]) =>
        execFileSync(
          process.execPath,
          [CORDON, ...asked, '--server', reached, '--token-file', join(folder, `${who}.token`)],
          { env: { PATH: process.env['PATH'] }, encoding: 'utf8' },
        )
      expect(ask('anna', 'approvals', 'list')).toBe('nobody waits for an approval\n')
      expect(ask('agent-1', 'team', 'tools', 'list')).toContain('there are no tools')
      // The two commands that the head of the file has for an admin, as they are written there.
      const commands = Array.from(
        readFileSync(join(ROOT, 'deploy', 'docker-compose.yaml'), 'utf8').matchAll(/^# {3}(.*\bada\.token)$/gm),
        ([, line = '']) => line,
      )
      expect(commands).toHaveLength(2)
      const local = (line: string): string =>
        line
          .replace(/\bcordon (?=runner|tools)/g, `"${process.execPath}" "${CORDON}" `)
          .replaceAll('http://127.0.0.1:7070', reached)
          .replaceAll('tokens/', `${folder}/`)
      for (const line of commands)
        execFileSync('sh', ['-ec', local(line)], {
          cwd: join(ROOT, 'deploy'),
          env: { PATH: process.env['PATH'] },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
      expect(ask('agent-1', 'team', 'tools', 'list')).toContain('say')
      expect(ask('ada', 'team', 'tools', 'list')).toMatch(/say\s.*agent-1/)
      expect((await fetch(`${reached}/healthz`)).ok).toBe(true)
    } finally {
      served.kill('SIGTERM')
      await new Promise((resolve) => served.once('exit', resolve))
      rmSync(folder, { recursive: true })
    }
  },
)
