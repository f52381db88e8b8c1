// Decisions of `cordon run`: rules of all sources, modes, the record and the messages.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeEach, describe, expect, test } from 'vitest'

import type { Facts } from './printed.js'

import { cordon, temporaryFolder } from './cordon.js'
import type { Ran } from './cordon.js'
import { CONFIG_FOLDER, STATE_FOLDER } from './own-folders.js'

const folder = temporaryFolder()
const project = join(folder, 'project')
const userRules = join(CONFIG_FOLDER, 'rules.yaml')

beforeEach(() => {
  for (const place of [CONFIG_FOLDER, STATE_FOLDER, project]) rmSync(place, { recursive: true, force: true })
  mkdirSync(join(project, '.cordon'), { recursive: true })
  mkdirSync(CONFIG_FOLDER, { recursive: true })
})

const rules = (...items: readonly string[]): string => `rules:\n${items.map((item) => `  - ${item}\n`).join('')}`
const byUser = (text: string) => {
  writeFileSync(userRules, text)
}
const byProject = (text: string) => {
  writeFileSync(join(project, '.cordon', 'rules.yaml'), text)
}

const run = (...words: readonly string[]): Ran => cordon(['run', ...words], { cwd: project })

const factsOf = ({ stderr }: Ran): Facts => JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as Facts
const events = () =>
  cordon(['log', 'show', '--json'])
    .stdout.trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { event: { type: string } & Record<string, unknown> }).event)

const RECORDS = ['permission_state', 'permission_decision', 'sandbox_profile', 'event']
const ajv = new Ajv2020({ strict: false, validateFormats: false })
for (const name of RECORDS)
  ajv.addSchema(
    JSON.parse(readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8')) as object,
    `${name}.schema.json`,
  )
const [isState, isDecision, isProfile, isEvent] = RECORDS.map((name) => ajv.compile({ $ref: `${name}.schema.json` }))

describe('facts', () => {
  test.each([
    ['a command that runs', ['--', 'true'], 0],
    ['a command that is denied', ['--', 'echo', 'no'], 125],
    ['a command that would be asked about', ['--mode', 'untrusted', '--', 'true'], 125],
    ['a mode that forbids it', ['--mode', 'plan', '--write', '.', '--', 'true'], 125],
    ['a host that cannot hold it', ['--require', 'broker', '--', 'true'], 125],
    ['a program that is not there', ['--', 'no-such-program'], 127],
    ['words that cannot be understood', ['--net', 'all', '--net', 'none', '--', 'true'], 125],
  ])('of %s are the published records of the gate', (_, words, status) => {
    byUser(rules('{ effect: deny, command: echo, because: said so }'))
    const ran = run('--json', ...words)
    expect(ran.status).toBe(status)
    const { permission_state: state, permission_decision: decision, sandbox_profile: profile } = factsOf(ran)
    expect([isState?.(state), isState?.errors]).toEqual([true, null])
    expect([isDecision?.(decision), isDecision?.errors]).toEqual([true, null])
    if (profile !== null) expect([isProfile?.(profile), isProfile?.errors]).toEqual([true, null])
  })
})

describe('rules', () => {
  test('of any source deny, with the rule, its file and its line', () => {
    byProject(
      rules(
        '{ effect: allow, tool: "cordon:*", because: anything }',
        '{ effect: deny, command: echo, because: quiet here }',
      ),
    )
    const ran = run('--json', '--', 'echo', 'ran')
    expect({ status: ran.status, stdout: ran.stdout }).toEqual({ status: 125, stdout: '' })
    expect(factsOf(ran).permission_decision).toMatchObject({
      decision: 'deny',
      decision_source: 'rule',
      error_code: 'rule-denied',
      explain: {
        rules: [
          {
            effect: 'deny',
            source: 'project',
            place: `${join(project, '.cordon', 'rules.yaml')}:3`,
            because: 'quiet here',
            standing: 'decides',
          },
          { effect: 'allow', standing: 'untrusted' },
        ],
      },
    })
    expect(run('--', 'echo', 'ran').stderr).toMatch(
      /^cordon: rule-denied: denied by the rule project:.*rules\.yaml:3: quiet here\nfix: change or remove the rule /,
    )
    expect(run('--', 'printf', 'ran').stdout).toBe('ran')
  })

  test('find a denied program inside other commands, and its path', () => {
    byUser(
      rules('{ effect: deny, command: "git push", because: no }', '{ effect: deny, paths: [ ~/.ssh ], because: keys }'),
    )
    for (const words of [
      ['/usr/bin/git', 'push'],
      ['env', 'git', 'push'],
      ['sh', '-c', 'true; git push'],
      ['cat', '/tmp/.ssh/id'],
      ['dd', 'if=/tmp/.ssh/id'],
    ]) {
      expect(run('--', ...words).stderr).toContain('rule-denied')
    }
    expect(run('--', 'echo', 'git push').status).toBe(0)
  })

  test('of the command line count like others: the strictest wins', () => {
    const typed = join(project, 'typed.yaml')
    writeFileSync(typed, rules('{ effect: allow, tool: "cordon:run", command: echo **, because: typed }'))
    expect(run('--mode', 'untrusted', '--rules', typed, '--', 'echo', 'ran').stdout).toBe('ran\n')
    byUser(rules('{ effect: deny, command: echo, because: user }'))
    expect(run('--mode', 'untrusted', '--rules', typed, '--', 'echo', 'ran').status).toBe(125)
    expect(run('--rules', join(project, 'absent.yaml'), '--', 'true').stderr).toContain('rules-unreadable')
  })

  test('of a hostile project can narrow but not allow, and those of a trusted one can', () => {
    byProject(rules('{ effect: allow, tool: "cordon:run", because: trust me }'))
    const refused = run('--json', '--mode', 'untrusted', '--', 'true')
    expect(refused.status).toBe(125)
    expect(factsOf(refused).permission_decision).toMatchObject({
      decision: 'unavailable',
      explain: { rules: [{ standing: 'untrusted' }] },
    })
    expect(run('--mode', 'untrusted', '--', 'true').stderr).toContain(
      `no rule allows it (the allow in ${join(project, '.cordon', 'rules.yaml')}:2 does not count: the ` +
        `project is not trusted; to trust it: trusted_projects: [ ${project} ] in ~/.config/cordon/rules.yaml)`,
    )
    byUser(`trusted_projects: [ ${project} ]\n`)
    expect(run('--mode', 'untrusted', '--', 'true').status).toBe(0)
  })

  test('apply in subfolders of a project, and with --cwd', () => {
    byProject(rules('{ effect: deny, command: echo, because: no }'))
    mkdirSync(join(project, 'a', 'b'), { recursive: true })
    expect(cordon(['run', '--', 'echo'], { cwd: join(project, 'a', 'b') }).status).toBe(125)
    expect(cordon(['run', '--cwd', '/', '--', 'echo'], { cwd: project }).status).toBe(125)
  })

  test.each([
    [
      'written by everybody',
      () => {
        byUser(rules('{ effect: allow, tool: x, because: y }'))
        chmodSync(userRules, 0o666)
      },
      'rules-unsafe',
    ],
    [
      'with a mistake',
      () => {
        byProject('rules:\n  - efect: deny\n')
      },
      'policy-unknown-key',
    ],
  ])('that are %s stop every run', (_, prepare, code) => {
    prepare()
    const { status, stderr, stdout } = run('--', 'echo', 'ran')
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
    expect(stderr).toContain(code)
  })

  test('cannot be changed by a command, wherever they are', () => {
    byUser(rules('{ effect: deny, tool: x, because: y }'))
    byProject('')
    const before = readFileSync(userRules, 'utf8')
    run(
      '--write',
      '.',
      '--write',
      CONFIG_FOLDER.replace(/\/cordon$/, ''),
      '--',
      'sh',
      '-c',
      `echo 'rules: []' > '${userRules}'; echo 'rules: []' > .cordon/rules.yaml; rm -rf '${CONFIG_FOLDER}' .cordon`,
    )
    expect(readFileSync(userRules, 'utf8')).toBe(before)
    expect(readFileSync(join(project, '.cordon', 'rules.yaml'), 'utf8')).toBe('')
  })
})

describe('modes', () => {
  test.each([
    ['default', 'allow command', 'allow command', 'unavailable rule'],
    ['untrusted', 'unavailable mode', 'unavailable policy', 'unavailable rule'],
    ['on_request', 'sandboxed command', 'allow command', 'sandboxed command'],
    ['on_failure', 'sandboxed command', 'allow command', 'unavailable rule'],
    ['never', 'sandboxed command', 'allow command', 'unavailable rule'],
    ['plan', 'allow command', 'deny mode', 'deny mode'],
    ['bypass', 'sandboxed command', 'sandboxed command', 'sandboxed command'],
    ['auto', 'allow command', 'allow command', 'unavailable rule'],
  ])('%s', (mode, plain, network, asked) => {
    byUser(rules('{ effect: ask, command: echo, because: look at it }'))
    const decide = (...words: readonly string[]): string => {
      const {
        permission_decision: { decision, decision_source: source },
      } = JSON.parse(run('--dry-run', '--json', '--mode', mode, ...words).stdout) as Facts
      return `${decision} ${source}`
    }
    expect([decide('--', 'true'), decide('--net', 'all', '--', 'true'), decide('--', 'echo')]).toEqual([
      plain,
      network,
      asked,
    ])
  })
})

describe('the audit log', () => {
  test('has every step of a run, in published events', () => {
    expect(run('--', 'sh', '-c', 'exit 3').status).toBe(3)
    const seen = events()
    expect(seen.map(({ type }) => type)).toEqual([
      'audit.began',
      'session.started',
      'permission.evaluated',
      'tool.called',
      'process.started',
      'sandbox.applied',
      'process.completed',
      'tool.completed',
      'session.ended',
    ])
    for (const event of seen) expect([isEvent?.(event), isEvent?.errors]).toEqual([true, null])
    expect(seen.find(({ type }) => type === 'tool.completed')).toMatchObject({
      tool: 'cordon:run',
      status: 'failed',
      reason: 'exit status 3',
    })
    expect(cordon(['log', 'verify']).status).toBe(0)
  })

  test('has refusals, and what could not be enforced', () => {
    byUser(rules('{ effect: deny, command: echo, because: no }'))
    run('--', 'echo')
    run('--require', 'broker', '--', 'true')
    expect(events().map(({ type }) => type)).toEqual([
      ...['audit.began', 'session.started', 'permission.evaluated', 'tool.denied', 'session.ended'],
      ...[
        'session.started',
        'permission.evaluated',
        'tool.called',
        'permission.evaluated',
        'tool.completed',
        'session.ended',
      ],
    ])
    expect(events().find(({ type }) => type === 'tool.completed')).toMatchObject({ status: 'not_started' })
  })

  test('must be written before the command runs', () => {
    mkdirSync(STATE_FOLDER, { recursive: true })
    chmodSync(STATE_FOLDER, 0o777)
    const { status, stdout, stderr } = run('--', 'echo', 'ran')
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
    expect(stderr).toMatch(/^cordon: audit-unsafe-path: /)
    const elsewhere = cordon(['run', '--', 'echo', 'ran'], {
      cwd: project,
      environment: { CORDON_AUDIT: '/dev/null/log' },
    })
    expect({ status: elsewhere.status, stdout: elsewhere.stdout }).toEqual({ status: 125, stdout: '' })
  })

  test('cannot be read or changed by the command, whatever its grants', () => {
    run('--', 'true')
    const log = join(STATE_FOLDER, 'audit.jsonl')
    const { stdout } = run(
      '--write',
      join(STATE_FOLDER, '..', '..'),
      '--',
      'sh',
      '-c',
      `cat '${log}'; echo forged >> '${log}'; rm -f '${log}'`,
    )
    expect(stdout).toBe('')
    expect(cordon(['log', 'verify']).status).toBe(0)
  })
})

describe('without a terminal', () => {
  test('a question is unavailable at once, with the rule that would allow the command', () => {
    const odd = ['printf', '%s|', 'a b', "it's", '*', '\\', '$HOME', '\u001b[2J', 'ä\u202e']
    const refused = run('--json', '--mode', 'untrusted', '--', ...odd)
    expect({ status: refused.status, stdout: refused.stdout }).toEqual({ status: 125, stdout: '' })
    const { result, permission_state: state } = factsOf(refused)
    expect(result.error).toMatchObject({ code: 'approval-unavailable' })
    expect(state.interactive).toBe(false)
    const rule = /: - (\{.*\}); run it/.exec(result.error?.fix ?? '')?.[1] ?? ''
    byUser(rules(rule))
    expect(run('--mode', 'untrusted', '--', ...odd).stdout).toBe(
      odd
        .slice(2)
        .map((word) => `${word}|`)
        .join(''),
    )
    // Exactly these words, here, with this boundary.
    for (const other of [
      ['--', ...odd, 'more'],
      ['--', ...odd.slice(0, -1)],
      ['--read', '.', '--', ...odd],
      ['--cwd', '/', '--', ...odd],
      ['--form', 'landlock', '--', ...odd],
      ['--', '/usr/bin/printf', ...odd.slice(1)],
    ]) {
      expect(run('--mode', 'untrusted', ...other).status).toBe(125)
    }
    expect(cordon(['run', '--mode', 'untrusted', '--', ...odd], { cwd: folder }).status).toBe(125)
  })

  test('a rule that asks is named with its file and line', () => {
    byProject(rules('{ effect: ask, command: echo, because: look at it }'))
    const { status, stderr } = run('--', 'echo', 'ran')
    expect(status).toBe(125)
    expect(stderr).toMatch(
      /^cordon: approval-unavailable: .*the rule project:.*rules\.yaml:2 asks: look at it.*\nfix: run it at a terminal and answer there; change or remove the rule project:.*rules\.yaml:2\n/,
    )
  })
})

describe('--dry-run', () => {
  test('shows the decision, its rule and what would change it, and runs and records nothing', () => {
    byUser(rules('{ id: quiet, effect: deny, command: touch, because: no files }'))
    const { status, stdout, stderr } = run('--dry-run', '--write', '.', '--', 'touch', 'made')
    expect({ status, stderr, made: existsSync(join(project, 'made')), log: existsSync(STATE_FOLDER) }).toEqual({
      status: 125,
      stderr: '',
      made: false,
      log: false,
    })
    expect(stdout).toMatch(/^would not run: denied\n/)
    expect(stdout).toContain(`deny (decides) quiet at ${userRules}:2: no files`)
    expect(stdout).toContain('change or remove the rule quiet')
    expect(run('--dry-run', '--', 'true').stdout).toMatch(/^would run\n/)
    expect(run('--dry-run', '--facts', join(project, 'facts.json'), '--', 'true').status).toBe(0)
    expect(JSON.parse(readFileSync(join(project, 'facts.json'), 'utf8'))).toMatchObject({
      result: { status: 'evaluated' },
      permission_decision: { decision: 'allow' },
    })
  })
})

describe('cordon why', () => {
  test('shows the decision of a recorded call, the rule with file and line, and the boundary', () => {
    byUser(rules('{ effect: deny, command: touch, because: no files }'))
    run('--read', '.', '--', 'sh', '-c', 'exit 3')
    run('--', 'touch', 'x')
    const denied = cordon(['why', 'last'])
    expect(denied.status).toBe(0)
    expect(denied.stdout).toMatch(
      /^ended because it was not allowed: [^]*\ndecision +deny of cordon:run by rule: denied by the rule .*: no files\n/,
    )
    expect(denied.stdout).toContain(`deny (decides) ${userRules}:2: no files`)
    const first = events().find(({ type }) => type === 'tool.called')
    const ran = cordon(['why', String(first?.['call_id']).slice(0, 8)])
    expect(ran.stdout).toMatch(
      /^ended because it exited with 3, which counts as [^]*\ndecision +allow of cordon:run by command: typed on the command line: --read \.\n/,
    )
    expect(ran.stdout).toMatch(new RegExp(`^reads +.*${project}`, 'm'))
    expect(ran.stdout).toContain('exit status 3')
    expect(ran.stdout).toMatch(/^used +\d.* wall, \d.* cpu, \d.* memory$/m)
    expect(cordon(['why', 'no-such-call']).status).toBe(1)
  })
})
