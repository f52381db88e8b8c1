// The native `cordon` and the local host, as people meet them: nothing differs from a run without, but for the time.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { testAttacks } from './attacks.js'
import { testCallers } from './callers.js'
import { testChanges } from './changes.js'
import { testEveryPath } from './every-path.js'
import { testGrantedHosts } from './granted-hosts.js'
import { testLooks } from './looks.js'
import { testOddCallers } from './odd-callers.js'
import { testSeries } from './series.js'
import { FRONT, frontPlace, hostStarted, hostState, servedOf, socketNow } from './front.js'

const place = frontPlace()
const OFF = { CORDON_HOST: 'off' }

beforeAll(async () => {
  await hostStarted(place)
})
afterAll(() => {
  place.run(['host', 'stop'])
})

describe('a served run', () => {
  const same = (words: readonly string[]): void => {
    const alone = place.run(words, OFF)
    let served
    expect(servedOf(() => (served = place.run(words)))).toBe(1)
    expect(served).toEqual(alone)
  }

  test('has the status, output and messages of a run without a host', () => {
    same(['run', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7'])
    same(['run', '--', 'no-such-program'])
    same(['run', '--', 'sh', '-c', 'kill -TERM $$'])
    same(['run', '--no-such-option'])
    same(['run', '--read', '/no/such/path', '--', 'true'])
    same(['run', '--', 'cat', '/etc/shadow'])
  })

  test('has the limits, priority, mask, groups and cgroup of its caller', () => {
    const look =
      'ulimit -n; ulimit -c; umask; nice; id -u; id -G; cat /proc/self/oom_score_adj; cat /proc/self/cgroup; pwd; ' +
      'test -t 0 || echo no terminal'
    const around = ['sh', '-c', 'ulimit -n 500; umask 027; exec nice -n 3 "$@"', 'sh']
    const words = ['run', '--exec', 'all', '--', 'sh', '-c', look]
    const alone = place.run(words, OFF, around)
    expect(alone.status).toBe(0)
    let served
    expect(servedOf(() => (served = place.run(words, {}, around)))).toBe(1)
    expect(served).toEqual(alone)
  })

  test('is decided by the folder and the variables of its caller', () => {
    mkdirSync(join(place.folder, 'inner'), { recursive: true })
    const words = ['run', '--env', 'GREETING', '--write', './**', '--', 'sh', '-c', 'echo $GREETING > made; cat made']
    let ran
    expect(
      servedOf(() => (ran = place.run(words, { GREETING: 'hello' }, ['env', '-C', join(place.folder, 'inner')]))),
    ).toBe(1)
    expect(ran).toMatchObject({ stdout: 'hello\n' })
    expect(existsSync(join(place.folder, 'inner', 'made'))).toBe(true)
    expect(existsSync(join(place.folder, 'made'))).toBe(false)
  })

  test('is recorded as a run without a host is', () => {
    const ofRun = (more: Readonly<Record<string, string>>) => {
      const before = place.log().length
      const served = servedOf(() => place.run(['run', '--', 'true', 'recorded'], more))
      expect(served).toBe(more === OFF ? 0 : 1)
      return place.log().slice(before)
    }
    const typesOf = (lines: ReturnType<typeof ofRun>) => lines.map(({ type }) => type)
    expect(typesOf(ofRun({}))).toEqual(typesOf(ofRun(OFF)))
    expect(spawnSync(FRONT, ['log', 'verify'], { env: place.environment }).status).toBe(0)
  })

  test('is refused by the rules of its own folder and user, as they are now', () => {
    const rules = join(place.folder, '.config/cordon/rules.yaml')
    const words = ['run', '--', 'true', 'ruled']
    expect(place.run(words).status).toBe(0)
    mkdirSync(join(place.folder, '.config/cordon'), { recursive: true })
    writeFileSync(rules, 'rules:\n  - { effect: deny, tool: "*", because: not today }\n')
    let refused
    expect(servedOf(() => (refused = place.run(words)))).toBe(1)
    expect(refused).toMatchObject({ status: 125 })
    expect(refused).toMatchObject({ stderr: expect.stringContaining('not today') as string })
    writeFileSync(rules, 'rules: []\n')
    expect(place.run(words).status).toBe(0)
  })
})

testChanges()
testGrantedHosts()
testAttacks()
testCallers()
testLooks()
testOddCallers()

describe('a process of its own', () => {
  test('does what a host does not: sessions, facts, walls, other temporary folders, and whoever wants no host', () => {
    const elsewhere = join(place.folder, 'elsewhere')
    mkdirSync(elsewhere, { recursive: true })
    const cases: readonly (readonly [readonly string[], Readonly<Record<string, string>>])[] = [
      [['run', '--session', 'one', '--', 'echo', 'x'], {}],
      [['run', '--facts', 'facts.json', '--', 'echo', 'x'], {}],
      [['run', '--form', 'landlock', '--', 'echo', 'x'], {}],
      [['run', '--', 'echo', 'x'], { TMPDIR: elsewhere }],
      [['run', '--', 'echo', 'x'], { CORDON_AUDIT: 'log/audit.jsonl' }],
      [['run', '--', 'echo', 'x'], OFF],
    ]
    for (const [words, more] of cases) {
      expect(
        servedOf(() => {
          expect(place.run(words, more)).toEqual({ status: 0, stdout: 'x\n', stderr: '' })
        }),
      ).toBe(0)
    }
    expect(existsSync(join(place.folder, 'facts.json'))).toBe(true)
  })

  test('is left to a caller that does not stand beside the host', () => {
    const words = ['run', '--', 'echo', 'x']
    const others = [
      ['setpriv', '--no-new-privs'],
      ['unshare', '--user', '--map-root-user', '--net'],
      ['unshare', '--user', '--map-root-user', '--mount'],
    ]
    const possible = others.filter(([program = '', ...rest]) => spawnSync(program, [...rest, 'true']).status === 0)
    expect(possible).toContainEqual(others[0])
    for (const around of possible) {
      expect(
        servedOf(() => {
          expect(place.run(words, {}, around)).toMatchObject({ status: 0, stdout: 'x\n' })
        }),
        around.join(' '),
      ).toBe(0)
    }
  })

  test('is left to another build', () => {
    const other = join(place.folder, 'cordon')
    copyFileSync(FRONT, other)
    writeFileSync(`${other}.front`, readFileSync(`${FRONT}.front`, 'utf8').replace(/^./, 'z'))
    expect(
      servedOf(() => {
        const { stdout } = spawnSync(other, ['run', '--', 'echo', 'x'], { env: place.environment, encoding: 'utf8' })
        expect(stdout).toBe('x\n')
      }),
    ).toBe(0)
  })
})

describe('the socket of the host', () => {
  test('is a file of Cordon itself, which no command gets', () => {
    const folder = dirname(socketNow())
    expect(place.run(['run', '--read', `${folder}/**`, '--', 'ls', folder]).status).not.toBe(0)
    expect(place.run(['run', '--read', '/run/**', '--read', '/tmp/**', '--', 'ls', folder]).stdout).toBe('')
  })

  test('takes hostile bytes, and serves the next caller', async () => {
    const hostile = [
      Buffer.from('Q\u0005\0\0\0abcde'),
      Buffer.from('Q\xff\xff\xff\xff', 'latin1'),
      Buffer.from('S\u0002\0\0\0\u0009\u0001'),
      Buffer.from('no frame at all'),
      Buffer.from(`Q\u0040\0\0\0${'\0'.repeat(64)}`),
      Buffer.alloc(1 << 20, 'C'),
    ]
    for (const bytes of hostile)
      await new Promise<void>((resolve) => {
        const connection = connect({ path: socketNow() })
        connection.setTimeout(200, () => connection.destroy())
        connection.on('error', () => undefined)
        connection.on('close', () => {
          resolve()
        })
        connection.resume()
        connection.write(bytes)
      })
    expect(servedOf(() => place.run(['run', '--', 'true']))).toBe(1)
  })
})

describe('what ends early', () => {
  const isRunning = (mark: string): boolean => spawnSync('pgrep', ['-x', '-f', `sleep ${mark}`]).status === 0
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 50))
  }

  test('a killed caller takes its command along', async () => {
    const mark = `93${String(process.pid)}1`
    const caller = place.start(['run', '--', 'sleep', mark])
    await until(() => isRunning(mark))
    caller.kill('SIGKILL')
    await until(() => !isRunning(mark))
    expect(servedOf(() => place.run(['run', '--', 'true']))).toBe(1)
  })

  test('a killed host ends the command that it serves, which is not run again, and the next run works', async () => {
    const { pid = 0 } = hostState() ?? {}
    const mark = `93${String(process.pid)}2`
    const caller = place.start(['run', '--write', './**', '--', 'sh', '-c', `echo ran >> runs; exec sleep ${mark}`])
    let said = ''
    caller.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()))
    await until(() => isRunning(mark))
    process.kill(pid, 'SIGKILL')
    expect(await new Promise((resolve) => caller.once('exit', resolve))).toBe(125)
    expect(said).toContain('the local host ended')
    await until(() => !isRunning(mark))
    expect(readFileSync(join(place.folder, 'runs'), 'utf8')).toBe('ran\n')
    expect(place.run(['run', '--', 'echo', 'x'])).toEqual({ status: 0, stdout: 'x\n', stderr: '' })
    await hostStarted(place)
  })

  test('a host that is stopped ends, and another one is started', async () => {
    const { pid } = await hostStarted(place)
    expect(place.run(['host', 'stop']).status).toBe(0)
    expect(existsSync(`/proc/${String(pid)}`)).toBe(false)
    expect(place.run(['host', 'status']).status).toBe(1)
    expect((await hostStarted(place)).pid).not.toBe(pid)
  })
})

test('a native cordon without its installation says so', () => {
  const alone = join(place.folder, 'bare')
  mkdirSync(alone, { recursive: true })
  copyFileSync(FRONT, join(alone, 'cordon'))
  const { status, stderr } = spawnSync(join(alone, 'cordon'), ['run', '--', 'true'], { encoding: 'utf8' })
  expect(status).toBe(125)
  expect(stderr).toContain('npm rebuild cordon')
})

describe('a hook', () => {
  const project = join(place.folder, 'project')
  const message = (command: string): string =>
    JSON.stringify({
      session_id: 'one',
      cwd: project,
      hook_event_name: 'PreToolUse',
      permission_mode: 'default',
      tool_name: 'Bash',
      tool_input: { command },
    })
  const hook = (input: string, more: Readonly<Record<string, string>> = {}) => {
    const { status, stdout, stderr } = spawnSync(FRONT, ['hook', 'claude-code', '--from-package'], {
      cwd: project,
      env: { ...place.environment, CLAUDE_PROJECT_DIR: project, ...more },
      encoding: 'utf8',
      input,
    })
    return { status, stdout, stderr }
  }
  beforeAll(() => {
    mkdirSync(project, { recursive: true })
  })
  const commandIn = ({ stdout }: ReturnType<typeof hook>): string =>
    (JSON.parse(stdout) as { hookSpecificOutput: { updatedInput: { command: string } } }).hookSpecificOutput
      .updatedInput.command

  test('is answered as without a host, and its command runs through the host', async () => {
    await hostStarted(place)
    const alone = hook(message('echo hooked'), OFF)
    let served = alone
    expect(servedOf(() => (served = hook(message('echo hooked'))))).toBe(1)
    expect(served).toEqual(alone)
    expect(alone.status).toBe(0)
    let ran
    expect(
      servedOf(() => {
        ran = spawnSync('/bin/sh', ['-c', commandIn(served)], { cwd: project, env: place.environment }).stdout
      }),
    ).toBe(1)
    expect(String(ran)).toBe('hooked\n')
  })

  test('blocks what is no message, with a host and without one', () => {
    for (const input of ['', 'no message', '{"a":1}', `{"a":"${'x'.repeat(9 << 20)}"}`]) {
      const alone = hook(input, OFF)
      let served
      // More than a host takes is left to Node.
      expect(servedOf(() => (served = hook(input)))).toBe(input === '' || input.length > 1 << 20 ? 0 : 1)
      expect(alone.status, input.slice(0, 20)).toBe(2)
      expect(served).toEqual(alone)
    }
  })

  test('is refused by rules that were changed since the last call', () => {
    const file = join(place.folder, '.config/cordon/rules.yaml')
    const asked = message('echo ruled')
    expect(hook(asked).stdout).toContain('updatedInput')
    writeFileSync(file, 'rules:\n  - { effect: deny, tool: "*", because: not now }\n')
    expect(hook(asked).stdout).toContain('not now')
    writeFileSync(file, 'rules: []\n')
    expect(hook(asked).stdout).toContain('updatedInput')
  })
})

testEveryPath()
testSeries()
