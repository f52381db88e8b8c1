// What differs between a caller and the local host: its home, its own files in /proc, its input and output.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { FRONT, frontPlace, hostStarted, hostState, servedOf } from './front.js'

const place = frontPlace()
const OFF = { CORDON_HOST: 'off' }
const at = (name: string): string => join(place.folder, name)

/** In the file of the other tests of the host: it is one process, and others stop it. */
export const testCallers = (): void => {
  describe('a caller', tests)
}

/** With a file as its input, which a path in /proc leads to. */
const withInput = (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  place.run(words, more, ['sh', '-c', 'exec "$@" < input.yaml', 'sh'])

const isRunning = (mark: string): boolean => spawnSync('pgrep', ['-x', '-f', `sleep ${mark}`]).status === 0
const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 50))
}

const tests = (): void => {
  test('has its own home in the configuration of a repository', async () => {
    await hostStarted(place)
    const git = (...words: readonly string[]) =>
      spawnSync('git', words, { cwd: at('repository'), env: place.environment, encoding: 'utf8' })
    mkdirSync(at('repository/hooks-of-git'), { recursive: true })
    expect(git('init', '-q').status).toBe(0)
    git('config', 'core.hooksPath', '~/repository/hooks-of-git')
    const change = 'echo x > repository/hooks-of-git/pre-commit; echo x > repository/file && echo changed'
    const words = ['run', '--write', './**', '--', 'sh', '-c', change]
    const alone = place.run(words, OFF)
    expect(alone.stderr).toContain('pre-commit')
    expect(alone.stdout).toBe('changed\n')
    let served
    expect(servedOf(() => (served = place.run(words)))).toBe(1)
    expect(served).toEqual(alone)
  })

  const HIDES = 'filesystem: { read: ["./**", "!./key.pem"] }\n'

  test('means its own input and folder by paths in /proc, and another process follows them', () => {
    writeFileSync(at('key.pem'), 'key\n')
    writeFileSync(at('input.yaml'), HIDES)
    mkdirSync(at('settings/cordon'), { recursive: true })
    writeFileSync(at('settings/cordon/rules.yaml'), 'rules:\n  - { effect: deny, tool: "*", because: mine }\n')
    symlinkSync('/dev/stdin', at('linked.yaml'))
    const cat = ['--', 'cat', 'key.pem']
    const cases: readonly (readonly [readonly string[], Readonly<Record<string, string>>, number])[] = [
      [['run', '--policy', '/dev/stdin', ...cat], {}, 1],
      [['run', '--policy', './linked.yaml', ...cat], {}, 1],
      [['run', '--read', '/proc/self/cwd/**', ...cat], {}, 1],
      [['run', '--', 'true'], { XDG_CONFIG_HOME: '/proc/self/cwd/settings' }, 125],
      [['run', '--', 'true'], { CORDON_AUDIT: '/proc/self/cwd/log/audit.jsonl' }, 0],
    ]
    for (const [words, more, status] of cases) {
      let ran: ReturnType<typeof withInput> = { status: null, stdout: '', stderr: '' }
      expect(servedOf(() => (ran = withInput(words, more)))).toBe(0)
      expect(ran, words.join(' ')).toEqual(withInput(words, { ...more, ...OFF }))
      if (!words.includes('/proc/self/cwd/**')) expect(ran.status, words.join(' ')).toBe(status)
      expect(ran.stdout).not.toContain('key')
    }
    writeFileSync(at('hides.yaml'), HIDES)
    expect(servedOf(() => withInput(['run', '--policy', './hides.yaml', ...cat]))).toBe(1)
  })

  test('that names a pipe as its policy waits alone', async () => {
    expect(spawnSync('mkfifo', [at('pipe.yaml')]).status).toBe(0)
    const waiting = place.start(['run', '--policy', './pipe.yaml', '--', 'echo', 'x'])
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(servedOf(() => place.run(['run', '--', 'true']))).toBe(1)
    writeFileSync(at('pipe.yaml'), 'filesystem: {}\n')
    expect(await new Promise((resolve) => waiting.once('exit', resolve))).toBe(0)
    rmSync(at('pipe.yaml'))
  })

  test('of a host that is stopped takes the slow way, also with much to say, and a killed one takes its cell along', async () => {
    const { pid } = await hostStarted(place)
    const mark = `94${String(process.pid)}1`
    const running = place.start(['run', '--', 'sleep', mark])
    await until(() => isRunning(mark))
    process.kill(pid, 'SIGSTOP')
    try {
      running.kill('SIGKILL')
      await until(() => !isRunning(mark))
      const much = Object.fromEntries(
        Array.from({ length: 8 }, (_, index) => [`MUCH_${String(index)}`, 'x'.repeat(100_000)]),
      )
      expect(place.run(['run', '--', 'echo', 'x'], much)).toEqual({ status: 0, stdout: 'x\n', stderr: '' })
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await expect.poll(() => servedOf(() => place.run(['run', '--', 'true']))).toBe(1)
  })

  test('whose host is stopped hears so, and its end is recorded', async () => {
    await hostStarted(place)
    const mark = `94${String(process.pid)}2`
    const running = place.start(['run', '--', 'sleep', mark])
    let said = ''
    running.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()))
    await until(() => isRunning(mark))
    const ended = new Promise((resolve) => running.once('exit', resolve))
    expect(place.run(['host', 'stop']).status).toBe(0)
    expect(await ended).toBe(125)
    expect(said).toContain('sandbox-closed')
    expect(isRunning(mark)).toBe(false)
    expect(place.log().some((event) => event['type'] === 'tool.completed' && event['status'] === 'cancelled')).toBe(
      true,
    )
    await hostStarted(place)
  })

  test('with limits of its own starts no host for others', () => {
    place.run(['host', 'stop'])
    const limited = ['sh', '-c', 'ulimit -f 100000; exec "$@"', 'sh']
    expect(place.run(['run', '--', 'true'], {}, limited).status).toBe(0)
    expect(hostState()).toBeUndefined()
  })

  test('that reads no answer of its hook gets a block', async () => {
    await hostStarted(place)
    mkdirSync(at('project'), { recursive: true })
    const message = JSON.stringify({
      session_id: 'one',
      cwd: at('project'),
      hook_event_name: 'PreToolUse',
      permission_mode: 'default',
      tool_name: 'Bash',
      tool_input: { command: 'true' },
    })
    const hook = (to: string) =>
      spawnSync('sh', ['-c', `${FRONT} hook claude-code --from-package ${to}`], {
        cwd: at('project'),
        env: { ...place.environment, CLAUDE_PROJECT_DIR: at('project') },
        input: message,
      }).status
    const statuses: (number | null)[] = []
    expect(
      servedOf(() => {
        for (const to of ['> /dev/null', '> /dev/full', '>&-']) statuses.push(hook(to))
      }),
    ).toBe(3)
    expect(statuses).toEqual([0, 2, 0])
  })
}
