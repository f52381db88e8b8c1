import { createHash, randomBytes } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { CORDON, describeForms, describeFormsByProcess, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()
const digest = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

describeFormsByProcess('the standard streams', (run, form) => {
  test('carry 20 MB unchanged', () => {
    const bytes = randomBytes(20_000_000)
    expect(run(['--', 'sha256sum'], { input: bytes }).stdout.slice(0, 64)).toBe(digest(bytes))
    const text = bytes.toString('base64')
    expect(digest(run(['--', 'cat'], { input: text }).stdout)).toBe(digest(text))
  })

  test('carry 20 MB with a limit of the output', () => {
    const text = randomBytes(15_000_000).toString('base64')
    expect(digest(run(['--output', '1G', '--', 'cat'], { input: text }).stdout)).toBe(digest(text))
  })

  test('end the command at the limit of the output', () => {
    const { status, stdout, stderr } = run(['--output', '64K', '--', 'yes'])
    expect({ status, length: stdout.length }).toEqual({ status: 137, length: 65_536 })
    expect(stderr).toMatch(/^cordon: ended by its output limit of 64K: .* used \(--output\)$/m)
  })

  test('stay separate', () => {
    expect(run(['--', 'sh', '-c', 'echo out; echo err >&2'])).toEqual({ status: 0, stdout: 'out\n', stderr: 'err\n' })
  })

  test('that are files are read, written and appended to, in order', () => {
    const [input, output] = [join(folder, `${form}-in`), join(folder, `${form}-out`)]
    writeFileSync(input, 'line\n')
    writeFileSync(output, 'before\n')
    const descriptors = [openSync(input, 'r'), openSync(output, 'a')] as const
    run(['--', 'sh', '-c', 'for i in 1 2 3; do echo out$i; echo err$i >&2; done; cat'], {
      stdio: [descriptors[0], descriptors[1], descriptors[1]],
    })
    for (const descriptor of descriptors) closeSync(descriptor)
    expect(readFileSync(output, 'utf8')).toBe('before\nout1\nerr1\nout2\nerr2\nout3\nerr3\nline\n')
  })

  test.each([[], ['--output', '1G']])('a reader that disconnects ends the command as usual %j', (...limit) => {
    const line = '"$0" "$1" run "$@" 2>&1'
    const script = `set -o pipefail; first=$1; second=$2; shift 2; "$first" "$second" run "$@" | head -n 1; echo "status $?"`
    const { stdout } = spawnSync(
      'bash',
      ['-c', script, line, process.execPath, CORDON, '--form', form, ...limit, '--', 'yes'],
      { encoding: 'utf8', timeout: 200_000 },
    )
    expect(stdout).toBe('y\nstatus 141\n')
  })

  test('an unread input does not keep the call open', () => {
    expect(run(['--', 'true'], { input: randomBytes(5_000_000) }).status).toBe(0)
  })
})

describeForms('the command gets', (run) => {
  test('only its own PATH, HOME and TMPDIR, and no other variable', () => {
    const { stdout } = run(['--', 'env'], { environment: { TOKEN: 'secret', LANG: 'C' } })
    // In the landlock form git is told besides that there are no system-wide settings, where it could not read them.
    // Without a network, Cordon tells programs not to try again.
    const retries = ['CARGO_NET_RETRY', 'PIP_RETRIES', 'npm_config_fetch_retries']
    const own = ['GIT_CONFIG_NOSYSTEM', 'HOME', 'PATH', 'PWD', 'TMPDIR', ...retries].sort()
    expect(
      stdout
        .split('\n')
        .map((line) => line.split('=')[0])
        .filter((name) => name !== '')
        .sort(),
    ).toEqual(own.filter((name) => stdout.includes(`${name}=`)))
    expect(stdout).not.toContain('secret')
  })

  test('named variables, from the caller or with a value', () => {
    const { stdout } = run(
      ['--env', 'TOKEN', '--env', 'SET=a=b', '--env', 'ABSENT', '--', 'sh', '-c', 'echo "$TOKEN $SET ${ABSENT-none}"'],
      { environment: { TOKEN: 'passed' } },
    )
    expect(stdout).toBe('passed a=b none\n')
  })

  test("its program from the caller's PATH, and the system's PATH inside", () => {
    const program = join(folder, 'greet')
    writeFileSync(program, '#!/bin/sh\necho "hello from $PATH"\n', { mode: 0o755 })
    const { stdout } = run(['--', 'greet'], { environment: { PATH: `${folder}:/usr/bin:/bin` } })
    expect(stdout).toMatch(/^hello from \/usr/)
    expect(stdout).not.toContain(folder)
  })

  test('the folder that --cwd names, or the current one', () => {
    expect(run(['--read', folder, '--', 'pwd'], { cwd: folder }).stdout).toBe(`${folder}\n`)
    expect(run(['--cwd', '/usr', '--', 'pwd'], { cwd: folder }).stdout).toBe('/usr\n')
  })

  test("globs relative to the caller's folder", () => {
    writeFileSync(join(folder, 'data'), 'data\n')
    expect(run(['--read', 'data', '--', 'cat', join(folder, 'data')], { cwd: folder }).stdout).toBe('data\n')
    expect(run(['--', 'cat', join(folder, 'data')], { cwd: folder }).status).toBe(1)
  })
})
