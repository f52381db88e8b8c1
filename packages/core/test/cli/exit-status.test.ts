import { chmodSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { CORDON as CORDON_PROGRAM, REPOSITORY } from '../../../../test/repository.js'
import { cordon, describeFormsByProcess, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()

describeFormsByProcess('the exit status', (run) => {
  test.each([0, 1, 3, 124, 255])("is the command's own: %i", (status) => {
    expect(run(['--', 'sh', '-c', `exit ${String(status)}`])).toEqual({ status, stdout: '', stderr: '' })
  })

  test('is 128+N for a command that was killed by signal N', () => {
    expect(run(['--', 'sh', '-c', 'kill -TERM $$']).status).toBe(143)
    expect(run(['--', 'sh', '-c', 'kill -KILL $$']).status).toBe(137)
  })

  test('is 124 after the wall-clock limit, with a message', () => {
    const { status, stderr } = run(['--timeout', '300ms', '--', 'sleep', '40'])
    expect(status).toBe(124)
    expect(stderr).toBe('cordon: ended by its wall-clock limit of 300ms (--timeout)\n')
  })

  test('is 137 after another limit, with its name', () => {
    const { status, stderr } = run([
      '--memory',
      '48M',
      '--',
      'sh',
      '-c',
      'x=$(head -c 300000000 /dev/zero | tr "\\0" x)',
    ])
    expect(status).toBe(137)
    expect(stderr).toMatch(/^cordon: ended by its memory limit of 48M: .* used \(--memory\)$/m)
  })

  test('is 127 for a missing program', () => {
    expect(run(['--', 'no-such-program'])).toMatchObject({
      status: 127,
      stderr: expect.stringMatching(
        /^cordon: program-not-found: .*no-such-program\nfix: install it, or give its path; looked in \/usr/,
      ) as string,
    })
    expect(run(['--', join(folder, 'absent')]).status).toBe(127)
  })

  test('is 125 for a missing program of --exec, because the command exists', () => {
    expect(run(['--exec', 'no-such-program', '--', 'true'])).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(
        /^cordon: grant-inexpressible: this host cannot enforce the exec grant "no-such-program" exactly: program not found: no-such-program\nfix: install it, or give its path; looked in .*; or remove it: --exec no-such-program\n$/,
      ) as string,
    })
    expect(run(['--exec', 'sh', '--', 'true']).status).toBe(0)
  })

  test('is 126 for a file that is not a program', () => {
    const file = join(folder, 'text')
    writeFileSync(file, 'text')
    expect(run(['--', file])).toMatchObject({
      status: 126,
      stderr: expect.stringMatching(/^cordon: program-not-executable: /) as string,
    })
    chmodSync(file, 0o755)
    writeFileSync(file, '\u007fELF, but not really one')
    expect(run(['--', file])).toMatchObject({
      status: 126,
      stderr: expect.stringMatching(/^cordon: program-not-executable: /) as string,
    })
  })

  test('is 125 if the boundary cannot be built, with one line for the code and one for the fix', () => {
    const { status, stdout, stderr } = run(['--read', join(folder, 'absent'), '--', 'true'])
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
    expect(stderr).toBe(
      `cordon: path-missing: the granted path ${folder}/absent does not exist\nfix: create it first, or ` +
        `remove the grant\n`,
    )
    // A file that the command is to make: its folder has to be granted.
    expect(run(['--write', join(folder, 'new.txt'), '--', 'true']).stderr).toContain(
      `or remove the grant; or grant its folder: --write ${folder}\n`,
    )
  })
})

test('a cell inside a cell has the exit status of the inner command', () => {
  const inner = [process.execPath, CORDON_PROGRAM, 'run', '--', 'sh', '-c', 'exit 7']
  const modules = realpathSync(join(REPOSITORY, 'node_modules'))
  expect(
    cordon(['run', '--read', REPOSITORY, '--read', modules, '--read', process.execPath, '--', ...inner]),
  ).toMatchObject({
    status: 7,
  })
})
