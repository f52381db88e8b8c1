import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { cordon, describeForms, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()
mkdirSync(join(folder, 'data'))
writeFileSync(join(folder, 'data', 'words'), 'words\n')
writeFileSync(join(folder, 'outside'), 'outside\n')

/** The lines of Cordon alone. */
const hints = (stderr: string): readonly string[] => stderr.split('\n').filter((line) => /^(?:cordon|fix):/.test(line))

describeForms('hints of a command that lacked a grant', (run, form) => {
  const NOT_GRANTED = `cordon: the working directory ${folder} is not granted: add --read ., or --write . to change it`

  test('for the working directory, after a failure for which nothing else is known', () => {
    const fails = ['--', 'sh', '-c', 'exit 3']
    expect(hints(run(fails, { cwd: folder }).stderr)).toEqual([NOT_GRANTED])
    expect(hints(run(['--cwd', folder, ...fails]).stderr)).toEqual([
      NOT_GRANTED.replace('--read .,', `--read ${folder},`).replace('--write . to', `--write ${folder} to`),
    ])
    expect(hints(run(['--read', 'data', ...fails], { cwd: folder }).stderr)).toEqual([])
    expect(run(['--read', '.', '--', 'ls'], { cwd: join(folder, 'data') })).toEqual({
      status: 0,
      stdout: 'words\n',
      stderr: '',
    })
    expect(run(['--', 'echo', 'hello'], { cwd: folder })).toEqual({ status: 0, stdout: 'hello\n', stderr: '' })
    expect(run(['--quiet', ...fails], { cwd: folder })).toEqual({ status: 3, stdout: '', stderr: '' })
  })

  test('for an argument that exists and is not granted, but not for one that does not exist', () => {
    const outside = [`cordon: ${folder}/outside exists, but is not granted: add --read ${folder}/outside`]
    const words = ['cat', 'data/words', 'outside', 'absent', `--file=${folder}/outside`]
    expect(hints(run(['--read', 'data', '--', ...words], { cwd: folder }).stderr)).toEqual(outside)
    expect(hints(run(['--', 'cat', 'outside'], { cwd: folder }).stderr)).toEqual(outside)
    expect(
      run(['--read', 'data', '--read', `${folder}/outside`, '--', 'cat', 'data/words', 'outside'], { cwd: folder })
        .status,
    ).toBe(0)
    expect(hints(run(['--read', '.', '--', 'cat', 'absent'], { cwd: folder }).stderr)).toEqual([])
  })

  test('npm gives up at once where no host is granted, unless a policy says how often', () => {
    const words = ['-c', 'echo $npm_config_fetch_retries $PIP_RETRIES $CARGO_NET_RETRY']
    expect(run(['--env', 'PIP_RETRIES=3', '--', 'sh', ...words]).stdout).toBe('0 3 0\n')
    const { stderr } = run([
      '--',
      'npm',
      'view',
      'a-package',
      '--registry',
      'http://host.invalid/',
      '--loglevel',
      'http',
    ])
    expect(stderr).toContain('attempt 1 failed')
    expect(stderr).not.toContain('attempt 2')
  })

  test('for creating a file in a folder without a write grant', () => {
    const made = (...words: readonly string[]) =>
      hints(run([...words, '--', 'touch', 'data/new'], { cwd: folder }).stderr)
    expect(made('--read', 'data')).toEqual([`cordon: refused write of ${folder}/data/new: add --write ${folder}/data`])
    expect(made('--write', `${folder}/data`)).toEqual([])
    rmSync(join(folder, 'data', 'new'))
  })

  test('for writing a file with only a read grant', () => {
    const hint = (...words: readonly string[]) =>
      hints(run(['--read', 'data', ...words, '--', 'sh', '-c', 'echo x > data/new'], { cwd: folder }).stderr)
    expect(hint()).toEqual([`cordon: refused write of ${folder}/data/new: add --write ${folder}/data`])
    expect(hint('--write', 'data')).toEqual([])
    rmSync(join(folder, 'data', 'new'))
  })

  test('for a package manager that writes package.json: the grant that permits it', () => {
    const project = join(folder, `project-${form}`)
    const manifest = join(project, 'package.json')
    mkdirSync(project)
    writeFileSync(manifest, '{ "name": "one", "version": "1.0.0" }\n')
    const set = (...words: readonly string[]) =>
      run(
        [
          '--write',
          project,
          ...words,
          '--env',
          'PATH',
          '--preset',
          'toolchains',
          '--',
          'npm',
          'pkg',
          'set',
          'name=two',
        ],
        { cwd: project },
      )
    const { status, stderr } = set()
    expect(status).not.toBe(0)
    expect(hints(stderr).join('\n')).toContain(`--write ${manifest}`)
    expect(readFileSync(manifest, 'utf8')).toContain('"one"')
    expect(set('--write', manifest).status).toBe(0)
    expect(readFileSync(manifest, 'utf8')).toContain('"two"')
  })

  test('none for a file whose own permissions refuse it', () => {
    const closed = join(folder, `closed-${form}`)
    writeFileSync(closed, 'closed\n')
    chmodSync(closed, 0o000)
    const { status, stderr } = run(['--read', closed, '--', 'cat', closed])
    expect(status).toBe(1)
    expect(hints(stderr)).toEqual([
      expect.stringContaining(`cordon: ${closed} is granted, but its file permissions refuse it (mode 0, user `),
    ])
  })

  test('for a host name that cannot be resolved, and a connection: the option', () => {
    // Without a network namespace no lookup is answered, and nobody knows which name it was.
    if (form === 'namespaces')
      expect(hints(run(['--', 'curl', '-sS', 'http://host.invalid/']).stderr)).toEqual([
        'cordon: refused to look up host.invalid: add --net host.invalid',
      ])
    expect(hints(run(['--', 'bash', '-c', 'echo > /dev/tcp/192.0.2.1/80']).stderr)).toEqual([
      'cordon: refused connection to 192.0.2.1:80: add --net 192.0.2.1',
    ])
    expect(hints(run(['--', 'bash', '-c', 'echo > /dev/tcp/192.0.2.1/81']).stderr)).toEqual([
      'cordon: refused connection to 192.0.2.1:81: add --net 192.0.2.1:81',
    ])
  })

  test('for a file of Cordon itself: that it is one, without a grant that would be refused', () => {
    const home = join(folder, `own-${form}`)
    const [config, state] = [join(home, '.config', 'cordon'), join(home, '.local', 'state', 'cordon')]
    for (const each of [config, state]) mkdirSync(each, { recursive: true, mode: 0o700 })
    writeFileSync(join(config, 'rules.yaml'), 'rules: []\n')
    writeFileSync(join(home, 'mine.yaml'), 'filesystem: { read: [] }\n')
    const told = (...words: readonly string[]) =>
      hints(
        run(words, {
          cwd: home,
          environment: {
            HOME: home,
            XDG_CONFIG_HOME: join(home, '.config'),
            XDG_STATE_HOME: join(home, '.local', 'state'),
          },
        }).stderr,
      )
    const own = (path: string, what: string, fate: string) => [
      `cordon: ${path} is a file of Cordon itself (${what}): ${fate}; see docs/own-files.md`,
    ]
    const script = (text: string) => ['--', 'sh', '-c', text]
    expect(told('--write', home, ...script(`echo x > ${config}/rules.yaml`))).toEqual(
      own(join(config, 'rules.yaml'), 'the settings of Cordon', 'no command may change it'),
    )
    expect(told('--write', home, ...script(`rm -r ${state}`))).toEqual(
      own(state, 'the state of Cordon', 'no command gets it'),
    )
    expect(told('--policy', './mine.yaml', '--write', '.', ...script('echo x > mine.yaml'))).toEqual(
      own(join(home, 'mine.yaml'), 'a policy of this run', 'no command may change it'),
    )
    expect(told('--observe', '--read', home, '--', 'cat', join(state, 'audit.jsonl'))).toEqual(
      own(join(state, 'audit.jsonl'), 'the audit log', 'no command gets it'),
    )
    // To read rules and policies is allowed.
    expect(told('--read', join(config, 'rules.yaml'), '--', 'cat', join(config, 'rules.yaml'))).toEqual([])
  })

  test('none of --net for a socket of the host', () => {
    const connect = 'import socket; socket.socket(socket.AF_UNIX).connect("/run/cordon-no-such.sock")'
    const { stderr } = run(['--', '/usr/bin/python3', '-c', connect])
    expect(stderr).not.toContain('--net')
  })

  test("for a script whose interpreter is outside the cell's PATH: --env PATH, which helps", () => {
    const bin = join(folder, `bin-${form}`)
    mkdirSync(bin)
    writeFileSync(join(bin, 'interpreter-of-mine'), '#!/bin/sh\necho started\n', { mode: 0o755 })
    writeFileSync(join(folder, `script-${form}`), '#!/usr/bin/env interpreter-of-mine\n', { mode: 0o755 })
    const environment = { PATH: `${bin}:/usr/bin:/bin` }
    const refused = run(['--', join(folder, `script-${form}`)], { environment })
    expect(refused.status).toBe(127)
    expect(hints(refused.stderr)[0]).toMatch(
      new RegExp(
        `^cordon: env looks for interpreter-of-mine in the PATH of the cell \\(.*\\), but it is ` +
          `${bin}/interpreter-of-mine: add --env PATH$`,
      ),
    )
    expect(run(['--env', 'PATH', '--read', bin, '--', join(folder, `script-${form}`)], { environment })).toMatchObject({
      status: 0,
      stdout: 'started\n',
    })
  })
})

describe('grants that grant nothing', () => {
  const words = ['--read', 'nothing-*', '--env', 'CORDON_NO_SUCH', '--env', 'LANG', '--', 'true'] as const

  test('give a warning, and the command runs', () => {
    expect(cordon(['run', ...words], { cwd: folder })).toEqual({
      status: 0,
      stdout: '',
      stderr:
        "cordon: the read pattern 'nothing-*' matches nothing, so it grants nothing\ncordon: --env " +
        'CORDON_NO_SUCH: this variable is not set, so the command does not get it; --env ' +
        'CORDON_NO_SUCH=VALUE sets it\n',
    })
    expect(cordon(['run', '--read', 'out*', '--env', 'LANG', '--', 'true'], { cwd: folder }).stderr).toBe('')
  })

  test('are named for a policy file too', () => {
    const file = join(folder, 'variables.yaml')
    writeFileSync(file, 'environment: [ CORDON_NO_SUCH, LANG, CORDON_SET=1 ]\n')
    const { status, stderr } = cordon(['run', '--policy', file, '--', 'true'], { cwd: folder })
    expect([status, stderr]).toEqual([
      0,
      'cordon: the policy passes on CORDON_NO_SUCH, which is not set, so the command does not get it; --env ' +
        'CORDON_NO_SUCH=VALUE sets it\n',
    ])
    const given = ['run', '--policy', file, '--env', 'CORDON_NO_SUCH=1', '--', 'true']
    expect(cordon(given, { cwd: folder }).stderr).toBe('')
  })

  test('but not with --quiet or --json', () => {
    expect(cordon(['run', '--quiet', ...words], { cwd: folder }).stderr).toBe('')
    expect(cordon(['run', '--json', ...words], { cwd: folder }).stderr).toMatch(/^\{.*\}\n$/)
  })

  test('a missing path is distinguished from one that this user may not see', (context) => {
    expect(cordon(['run', '--read', `${folder}/absent`, '--', 'true']).stderr).toContain(
      'path-missing: the granted path',
    )
    // The suite runs as an ordinary user, too.
    if (process.getuid?.() === 0) context.skip('root looks into closed folders')
    mkdirSync(join(folder, 'shut', 'in'), { recursive: true })
    chmodSync(join(folder, 'shut'), 0o000)
    expect(cordon(['run', '--read', `${folder}/shut/in`, '--', 'true']).stderr).toContain(
      `path-denied: the granted path ${folder}/shut/in cannot be accessed: a folder on the way there is ` +
        'closed to this user (EACCES)',
    )
    chmodSync(join(folder, 'shut'), 0o755)
  })
})

describeForms('hints beside an option `none`', (run) => {
  test('replace it, because nothing can stand beside it', () => {
    const words = ['--read', folder, '--', 'sh', '-c', `ls ${folder}`]
    expect(run(['--exec', 'none', ...words]).stderr).toContain('replace --exec none by --exec /usr/bin/ls')
    const replaced = run(['--exec', '/usr/bin/ls', ...words])
    expect([replaced.status, replaced.stdout]).toEqual([0, expect.stringContaining('data') as string])
  })
})
