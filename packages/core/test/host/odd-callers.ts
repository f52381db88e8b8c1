// Callers that are odd: with a small stack, no reader, ignored signals, another root, or a library of their own.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'
import { FRONT, frontPlace, hostStarted, hostState, servedOf, socketNow } from './front.js'
import type { Ran } from './front.js'

const place = frontPlace()
const { at } = place
const OFF = { CORDON_HOST: 'off' }
const IS_ROOT = process.getuid?.() === 0
const WORDS = ['run', '--', 'echo', 'x'] as const
const RAN = { status: 0, stdout: 'x\n', stderr: '' }

/** In the file of the other tests of the host: it is one process, and others stop it. */
export const testOddCallers = (): void => {
  describe('an odd caller', tests)
  describe('an odd caller that starts the host', testsOfStarters)
}

/** Ends also what waits for the host and hears no signal. */
const ENDING = ['timeout', '-s', 'KILL', String(ENDS_WHAT_HANGS_MS / 4000)]

const isRunning = (mark: string): boolean => spawnSync('pgrep', ['-x', '-f', `sleep ${mark}`]).status === 0

/** What ran, if that is what runs without a host. */
const same = (
  words: readonly string[],
  around: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Ran => {
  const ran = place.run(words, more, [...ENDING, ...around])
  expect(ran).toEqual(place.run(words, { ...more, ...OFF }, [...ENDING, ...around]))
  return ran
}

const served = (
  words: readonly string[],
  around: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
) => {
  const ran = same(words, around, more)
  return { ran, served: servedOf(() => place.run(words, more, [...ENDING, ...around])) }
}

const tests = (): void => {
  test('that ignores SIGCHLD gets its status', async () => {
    await hostStarted(place)
    const words = ['run', '--', 'sh', '-c', 'exit 3']
    expect(served(words)).toMatchObject({ ran: { status: 3 }, served: 1 })
    expect(same(words, ['env', '--ignore-signal=CHLD']).status).toBe(3)
  })

  test.each(['INT', 'HUP', 'PIPE', 'USR1'])('that ignores SIG%s has a command that does not', (name) => {
    const words = ['run', '--exec', 'all', '--', 'sed', '-n', 's/^Sig\\(Ign\\|Blk\\):\\t//p', '/proc/self/status']
    const none = `${'0'.repeat(16)}\n`.repeat(2)
    expect(served(words)).toMatchObject({ ran: { status: 0, stdout: none }, served: 1 })
    expect(same(words, ['env', `--ignore-signal=${name}`]).stdout).toBe(none)
    expect(same(words, ['env', `--block-signal=${name}`]).stdout).toBe(none)
  })

  test.each(['--default-signal=INT', '--ignore-signal=INT'])('started with %s is ended by SIGINT', async (option) => {
    const mark = `96${String(process.pid)}${option.length}`
    const caller = spawn('env', [option, FRONT, 'run', '--', 'sleep', mark], {
      cwd: place.folder,
      env: place.environment,
      stdio: 'ignore',
    })
    try {
      await expect.poll(() => isRunning(mark)).toBe(true)
      caller.kill('SIGINT')
      await expect.poll(() => caller.exitCode).toBe(130)
    } finally {
      caller.kill('SIGKILL')
    }
  })

  test('whose standard error has no reader any more runs its command to the end', () => {
    const closed = 'exec 3> >(exec true); wait $!; exec "$@" 2>&3'
    const words = ['run', '--env', 'NOT_SET_X', '--write', './**', '--', 'sh', '-c', 'echo ran > ran; exit 3']
    for (const around of [
      ['bash', '-c', 'exec "$@" 2> warnings', 'bash'],
      ['bash', '-c', closed, 'bash'],
    ])
      for (const more of [OFF, {}]) {
        rmSync(at('ran'), { force: true })
        expect(place.run(words, more, around)).toEqual({ status: 3, stdout: '', stderr: '' })
        expect(existsSync(at('ran'))).toBe(true)
      }
    expect(readFileSync(at('warnings'), 'utf8')).toContain('NOT_SET_X')
  })

  const MUCH = Array.from({ length: 400 }, (_, index) => ['--env', `N${String(index)}_${'x'.repeat(1000)}`]).flat()

  test('that does not read its standard error holds up no other', async () => {
    let said = ''
    expect(servedOf(() => (said = place.run(['run', ...MUCH, '--', 'true']).stderr))).toBe(1)
    expect(said.includes('N399_')).toBe(true)
    const mark = `96${String(process.pid)}9`
    const other = place.start([
      'run',
      '--write',
      './**',
      '--',
      'sh',
      '-c',
      `until [ -e go ]; do sleep 0.0${mark}; done`,
    ])
    await expect.poll(() => isRunning(`0.0${mark}`)).toBe(true)
    const silent = place.start(['run', '--write', './**', ...MUCH, '--', 'true'])
    try {
      await new Promise((resolve) => silent.stderr?.once('readable', resolve))
      let ran: Ran | undefined
      for (let run = 0; run < 3; run += 1) expect(servedOf(() => (ran = place.run(WORDS)))).toBe(1)
      expect(ran).toEqual(RAN)
      place.put('go', '')
      await expect.poll(() => other.exitCode).toBe(0)
    } finally {
      for (const caller of [silent, other]) caller.kill('SIGKILL')
    }
  })

  test('with a library of its own has a proxy with that library', () => {
    const more = { LD_PRELOAD: 'libc.so.6' }
    const withHost = ['run', '--net', 'api.test', '--', 'echo', 'x']
    expect(served(WORDS, [], more)).toEqual({ ran: RAN, served: 1 })
    expect(served(withHost)).toEqual({ ran: RAN, served: 1 })
    const refused = hostState()?.refused ?? 0
    expect(served(withHost, [], more)).toEqual({ ran: RAN, served: 0 })
    expect((hostState()?.refused ?? 0) - refused).toBe(2)
  })

  test('of a host that says half a word does not wait for the other half', () => {
    place.run(['host', 'stop'])
    const [socket, log] = [socketNow(), at('fake.log')]
    const asked = (way: 'whole' | 'half'): Ran => {
      place.put('fake.log', '')
      const start = `"$@" > ${log} 2>&1 & echo $!; until [ -s ${log} ]; do sleep 0.05; done`
      const { stdout } = spawnSync('sh', ['-c', start, 'sh', 'python3', '-c', FAKE, socket, way], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      try {
        return place.run(WORDS, {}, ENDING)
      } finally {
        process.kill(Number(stdout.trim()), 'SIGKILL')
        for (const ending of ['', '.cell']) rmSync(`${socket}${ending}`, { force: true })
      }
    }
    expect(asked('whole')).toEqual({ ...RAN, stdout: 'said\nx\n' })
    expect([0, 125]).toContain(asked('half').status)
  })

  // In a mount namespace of its own, with a host of its own, so that no mount is left behind.
  test.runIf(IS_ROOT)('with another root is not served', async () => {
    place.run(['host', 'stop'])
    mkdirSync(at('root'))
    const words = ['--mount', '--propagation', 'private', 'sh', '-c', IN_ROOT, 'sh', FRONT, at('root')]
    const { stdout, stderr } = spawnSync('unshare', words, {
      cwd: place.folder,
      env: { ...place.environment, PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      encoding: 'utf8',
      timeout: ENDS_WHAT_HANGS_MS,
    })
    const counts = [...stdout.matchAll(/"served":(\d+)/g)].map(([, count]) => Number(count))
    const [before = NaN, own = NaN, other = NaN] = counts
    expect(stdout, stderr).toContain('entered')
    expect({ own: own - before, other: other - own }, stdout + stderr).toEqual({ own: 1, other: 0 })
    await hostStarted(place)
  })
}

/** Says that it listens, and a word to each who asks: all of it, or the beginning alone. */
const FAKE = `
import socket, struct, sys
path, way = sys.argv[1:]
kept = [socket.socket(socket.AF_UNIX) for _ in range(2)]
for listener, name in zip(kept, [path + ".cell", path]):
    listener.bind(name)
    listener.listen()
print("listens", flush=True)
while True:
    connection, _ = listener.accept()
    kept.append(connection)
    connection.recv(5)
    connection.sendall(b"T" + struct.pack("<I", 6) + b"\\1sa")
    if way == "whole":
        connection.sendall(b"id\\n" + b"N" + struct.pack("<I", 0))
`

const IN_ROOT = `
trap '"$1" host stop > stopped' EXIT
until "$1" host status > status; do "$1" run -- true; done
mount --rbind / "$2"
"$1" host status --json
"$1" run -- echo own > own
"$1" host status --json
chroot "$2" true && echo entered
chroot "$2" "$1" run -- echo other > other
"$1" host status --json
`

const testsOfStarters = (): void => {
  /** By this caller, or by another one if this one starts none. */
  const startedBy = async (around: readonly string[]) => {
    place.run(['host', 'stop'])
    for (let tries = 0; tries < 10 && hostState() === undefined; tries += 1)
      place.run(['run', '--', 'true'], {}, around)
    return hostStarted(place)
  }

  test('with a small stack leaves it out of the host', async () => {
    for (const around of [[], ['sh', '-c', 'ulimit -S -s 256; exec "$@"', 'sh']]) {
      await startedBy(around)
      let ran
      expect(servedOf(() => (ran = place.run(WORDS)))).toBe(1)
      expect(ran).toEqual(RAN)
    }
  })

  const traitsOf = (pid: number): Readonly<Record<string, string>> => {
    const read = (name: string): string => readFileSync(`/proc/${String(pid)}/${name}`, 'utf8')
    const stat = read('stat').split(') ')[1]?.split(' ') ?? []
    return {
      nice: stat[16] ?? '',
      scheduler: stat[38] ?? '',
      processors: /^Cpus_allowed:.*$/m.exec(read('status'))?.[0] ?? '',
      personality: read('personality'),
      scoreOfMemory: read('oom_score_adj'),
    }
  }

  const [processor = '0'] = /(?<=^Cpus_allowed_list:\s+)\d+/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  const starters: readonly (readonly [string, readonly string[]])[] = [
    ['a nice value', ['nice', '-n', '3']],
    ['a scheduler', ['chrt', '--idle', '0']],
    ['one processor', ['taskset', '-c', processor]],
    ['a personality', ['setarch', '--addr-no-randomize']],
    ['a score for want of memory', ['choom', '-n', '300', '--']],
  ]
  test.each(starters)('with %s leaves it out of the host', async (_, around) => {
    const plain = traitsOf((await startedBy([])).pid)
    expect(traitsOf((await startedBy(around)).pid)).toEqual(plain)
  })
}
