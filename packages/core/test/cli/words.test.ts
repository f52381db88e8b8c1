import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { renderHelp } from '../../src/line/help.js'
import { RUN_HELP } from '../../src/run/request/run-options.js'

import { CORDON, cordon, cordonLine, cordonProcess, temporaryFolder } from './cordon.js'

describe('help', () => {
  const GENERAL = [['--help'], ['-h'], ['help'], []]
  const OF_RUN = [
    ['run', '--help'],
    ['run', '-h'],
    ['help', 'run'],
    ['run', '--read', 'x', '--help'],
  ]
  test.each(GENERAL.map((words) => [words]))('%j lists the commands', (words) => {
    const { status, stdout, stderr } = cordonLine(words)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/^usage: cordon COMMAND[^]*run +run one command[^]*doctor/)
  })

  test.each(OF_RUN.map((words) => [words]))('%j explains the command', (words) => {
    expect(cordonLine(words)).toEqual({ status: 0, stdout: renderHelp(RUN_HELP), stderr: '' })
  })

  test('of the program itself is the same', () => {
    for (const words of [['--help'], ['run', '--help']]) expect(cordonProcess(words)).toEqual(cordonLine(words))
  })

  test('after -- it belongs to the command', () => {
    expect(cordon(['run', '--', 'printf', '%s', '--help']).stdout).toBe('--help')
    expect(cordon(['run', 'printf', '%s', '--help']).stdout).toBe('--help')
  })

  test('has every option of the command line', () => {
    const text = renderHelp(RUN_HELP)
    const options = [
      'policy',
      'read',
      'write',
      'net',
      'env',
      'exec',
      'memory',
      'processes',
      'cpu',
      'timeout',
      'cwd',
      'preset',
      'output',
    ]
    for (const name of [
      ...options,
      'form',
      'require',
      'mode',
      'secret',
      'resolve',
      'upstream-ca',
      'observe',
      'facts',
      'json',
    ])
      expect(text).toContain(`--${name}`)
  })

  test('--version prints the version of the package', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect(cordon(['--version'])).toEqual({ status: 0, stdout: `cordon ${version}\n`, stderr: '' })
  })
})

describe('invalid arguments', () => {
  const folder = temporaryFolder()

  const MISUNDERSTOOD: readonly (readonly [readonly string[], string, string])[] = [
    [['runn'], 'unknown command runn', 'did you mean cordon run?'],
    [['--verison'], 'unknown option --verison', 'did you mean --version?'],
    [['run', '--raed', 'x', '--', 'true'], 'unknown option --raed', 'did you mean --read?'],
    [['run', '--wall', '5s', '--', 'true'], 'unknown option --wall', 'did you mean --timeout?'],
    [['run', '--rw', '.', '--', 'true'], 'unknown option --rw', 'did you mean --write?'],
    [['run', '--zzz', '--', 'true'], 'unknown option --zzz', 'see: cordon run --help'],
    [['run', '--observe=yes', '--', 'true'], '--observe takes no value', 'see: cordon run --help'],
    [['run', '--read'], '--read needs a value: GLOB', 'see: cordon run --help'],
    [['run', '--read', '--', 'true'], '--read needs a value: GLOB', 'see: cordon run --help'],
    [['run', '--memory', '1G', '--memory', '2G', '--', 'true'], '--memory is given twice', 'see: cordon run --help'],
    [['run'], 'no command given', 'cordon run [options] -- COMMAND…'],
    [['run', '--read', '/usr'], 'no command given', 'cordon run [options] -- COMMAND…'],
    [['run', '--mode', 'paln', '--', 'true'], '--mode does not know "paln"', 'did you mean plan?'],
    [
      ['run', '--backend', 'podman', '--', 'true'],
      'podman is a container engine, and no backend',
      'cordon run --backend container --image NAME -- COMMAND… (DOCKER_HOST=unix:///path names the engine)',
    ],
    [['run', '--backend', 'contaner', '--', 'true'], '--backend does not know "contaner"', 'did you mean container?'],
    [
      ['run', '--backend', 'container', '--image', '', '--', 'true'],
      '--backend container needs an image',
      'cordon run --backend container --image NAME -- COMMAND…',
    ],
    [
      ['run', '--form', 'xen', '--', 'true'],
      '--form does not know "xen"',
      'one of: auto, namespaces, landlock, mounts',
    ],
    [
      ['run', '--net', 'none', '--net', 'example.org', '--', 'true'],
      '--net none cannot stand beside another --net',
      'leave one out: --net none, or --net example.org',
    ],
    [['run', '--policy', 'githbu', '--', 'true'], 'there is no policy named "githbu"', 'did you mean --policy github?'],
    [
      ['run', '--policy', 'nothing-like-it', '--', 'true'],
      'there is no policy named "nothing-like-it"',
      'see: cordon policy list; a file is named by its path, such as --policy ./nothing-like-it.yaml',
    ],
    [
      ['run', '--secret', 'a=env:B', '--', 'true'],
      '--secret a: no policy of this run has this credential',
      'name a policy that has credentials: --policy NAME',
    ],
    [['doctor', '--jsno'], 'unknown option --jsno', 'did you mean --json?'],
    [['doctor', 'extra'], 'doctor takes options only: extra', 'see: cordon doctor --help'],
  ]

  test.each(MISUNDERSTOOD)('%j: %s', (words, problem, fix) => {
    expect(cordonLine(words)).toEqual({
      // Only a command that runs another keeps 1 and 2 for that.
      status: words[0] === 'doctor' ? 2 : 125,
      stdout: '',
      stderr: `cordon: usage-error: ${problem}\nfix: ${fix}\n`,
    })
  })

  const REFUSED: readonly (readonly [readonly string[], string])[] = [
    [['--memory', 'lots'], 'policy-invalid-value: --memory: limits.memory must be a size'],
    [
      ['--processes', 'many'],
      'policy-invalid-value: --processes: limits.processes must be a whole number of at least 1, not "many"\n' +
        'fix: write a number without a unit',
    ],
    [['--timeout', '30'], 'policy-invalid-value: --timeout: limits.wall must be a duration'],
    [
      ['--timeout', '0s'],
      'policy-invalid-value: --timeout: limits.wall must be a duration such as 500ms, 30s, 2m or 1h, at ' +
        'least 10ms, not "0s"',
    ],
    [
      ['--memory', '1K'],
      'policy-invalid-value: --memory: limits.memory must be a size such as 256M or 1G (K, M, G, T: powers ' +
        'of 1024), at least 1M, not "1K"',
    ],
    [
      ['--cpu', '1ms'],
      'policy-invalid-value: --cpu: limits.cpu must be a duration such as 500ms, 30s, 2m or 1h, at least ' +
        '10ms, not "1ms"',
    ],
    [['--read', 'a[b'], 'glob-malformed: --read: filesystem.read[0]: the pattern "a[b" is malformed'],
    [['--env', '1A'], 'policy-invalid-value: --env: environment[0] must be'],
    [['--net', 'https://example.org/'], 'host-malformed: --net: network[0]: the network entry'],
    [['--preset', 'toolchain'], 'policy-invalid-value: --preset: presets[0] must be one of'],
    [['--require', 'magic'], 'policy-invalid-value: --require: require[0] must be one of'],
    [['--policy', './absent.yaml'], 'file-unreadable: cannot read ./absent.yaml: ENOENT: no such file or directory'],
    [['--cwd', '/absent'], 'cwd-missing: the working directory /absent does not exist'],
    [['--backend', 'chroot'], 'usage-error: --backend does not know "chroot"'],
    [
      ['--net', 'example.org:443', '--resolve', 'example.org'],
      'usage-error: --resolve example.org is not HOST=ADDRESS',
    ],
    [
      ['--net', 'example.org:443', '--upstream-ca', '/absent.pem'],
      'usage-error: --upstream-ca /absent.pem cannot be read',
    ],
    [['--secret', 'a=env:A'], 'usage-error: --secret a: no policy of this run has this credential'],
  ]
  const lineOf = (words: readonly string[]) => ['run', ...words, '--', 'echo', 'ran']

  test.each(REFUSED)('%j: %s', (words, message) => {
    const { status, stdout, stderr } = cordonLine(lineOf(words))
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
    expect(stderr.startsWith(`cordon: ${message}`), stderr).toBe(true)
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  test('are refused by the program itself with the same text', () => {
    for (const words of [['runn'], ['run', '--raed', 'x', '--', 'true']])
      expect(cordonProcess(words)).toEqual(cordonLine(words))
    for (const words of [lineOf(['--memory', 'lots']), lineOf(['--cwd', '/absent'])])
      expect(cordonProcess(words)).toEqual(cordonLine(words))
  })

  test('a misspelt or unneeded mechanism is distinguished from one that this host lacks', () => {
    const requiring = (mechanism: string) => ['run', '--require', mechanism, '--', 'true']
    const inLandlock = ['run', '--form', 'landlock', '--require', 'mount-namespace', '--', 'true']
    const fixOf = (mechanism: string) => cordonLine(requiring(mechanism)).stderr.split('\n')
    expect(fixOf('landlok')[1]).toBe('fix: did you mean "landlock"?')
    expect(fixOf('broker')).toEqual([
      expect.stringMatching(/^cordon: host-cannot-hold: this host cannot provide broker: /),
      expect.stringMatching(
        /^fix: grant a host \(--net HOST\), or do not require it; what can be required here: .*seccomp/,
      ),
      '',
    ])
    const { stderr } = cordonLine(inLandlock)
    expect(stderr).toMatch(
      /this host cannot provide mount-namespace: [^]*\nfix: (?:leave the form to Cordon|run `cordon doctor`)/,
    )
  })

  test('a missing policy file gets a suggestion of the intended file', () => {
    writeFileSync(join(folder, 'build.yaml'), 'network: none\n')
    const naming = (word: string) => ['run', '--policy', word, '--', 'true']
    const fixOf = (word: string) => cordonLine(naming(word), { cwd: folder }).stderr.split('\n')[1]
    expect(fixOf('build')).toBe('fix: did you mean --policy ./build.yaml?')
    expect(fixOf('biuld')).toBe('fix: did you mean --policy ./build.yaml?')
    expect(fixOf('build.yml')).toBe('fix: did you mean --policy ./build.yaml?')
    expect(fixOf(`${folder}/build.ymal`)).toBe(`fix: did you mean --policy ${folder}/build.yaml?`)
    expect(fixOf('other.yaml')).toBe(`fix: files are looked for from the current directory, ${folder}`)
    expect(fixOf('absent/other.yaml')).toBe('fix: there is no folder absent here')
    expect(fixOf('./')).toBe('fix: name a file in it')
  })

  test('cordon policy suggests the intended command as it is typed there', () => {
    writeFileSync(join(folder, 'mine.yaml'), 'network: none\n')
    writeFileSync(join(folder, 'ty.yaml'), 'filesystem: { read: data }\n')
    const said = (...words: readonly string[]) => cordonLine(['policy', ...words], { cwd: folder })
    expect(said('show', 'githb').stderr).toContain('fix: did you mean: cordon policy show github?\n')
    expect(said('test', 'mine').stderr).toContain('fix: did you mean: cordon policy test ./mine.yaml?\n')
    expect(said('show', './mien.yaml').stderr).toContain('fix: did you mean: cordon policy show ./mine.yaml?\n')
    expect(said('chek')).toMatchObject({
      status: 2,
      stderr: 'cordon: usage-error: there is no "cordon policy chek"\nfix: did you mean: cordon policy check?\n',
    })
    expect(said('check', 'ty.yaml', './mine.yaml').stdout).toBe(
      'wrong  ty.yaml:1: filesystem.read must be "none" or a list of path patterns, not "data" (write ' +
        '[data])\nright  ./mine.yaml\n',
    )
  })

  test('a name with control characters cannot write to the terminal', () => {
    expect(cordon(['run', '--read', '/absent/\u001b[2Jx', '--', 'true']).stderr).toContain('/absent/\\x1b[2Jx')
  })
})

test('a reader of the help that disconnects is not an error', () => {
  expect(
    execFileSync('sh', ['-c', `'${process.execPath}' '${CORDON}' run --help | head -n 1`], { encoding: 'utf8' }),
  ).toBe('usage: cordon run [options] -- COMMAND…\n')
})
