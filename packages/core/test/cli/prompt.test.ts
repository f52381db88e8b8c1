// The question of `cordon run`, answered at a real terminal.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { beforeEach, describe, expect, test } from 'vitest'

import type { Facts } from './printed.js'

import { CORDON, STARTED, cordon, temporaryFolder } from './cordon.js'
import { CONFIG_FOLDER, STATE_FOLDER } from './own-folders.js'
import { CTRL_C, CTRL_D, atTerminal } from './terminal.js'
import type { Step } from './terminal.js'

const folder = temporaryFolder()
const userRules = join(CONFIG_FOLDER, 'rules.yaml')
const factsFile = join(folder, 'facts.json')

beforeEach(() => {
  for (const place of [CONFIG_FOLDER, STATE_FOLDER]) rmSync(place, { recursive: true, force: true })
  mkdirSync(CONFIG_FOLDER, { recursive: true })
})

const asking = (...words: readonly string[]) => [
  process.execPath,
  CORDON,
  'run',
  '--facts',
  factsFile,
  '--mode',
  'untrusted',
  ...words,
]
const QUESTION: Step = { expect: 'help? ' }
const answer = (text: string): Step => ({ send: `${text}\r` })
const facts = (): Facts => JSON.parse(readFileSync(factsFile, 'utf8')) as Facts
const types = () =>
  cordon(['log', 'show', '--json'])
    .stdout.trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { event: { type: string } }).event.type)

describe('at a terminal', () => {
  test('the question shows command, program, boundary and reason, and "once" runs it once', () => {
    const { output, status } = atTerminal(
      asking('--read', folder, '--timeout', '30s', '--', 'echo', 'hello', 'two words'),
      [QUESTION, answer('o')],
    )
    expect(output).toContain("  | echo hello 'two words'\r\n")
    for (const part of [
      /program +\/usr\/bin\/echo/,
      new RegExp(`reads +${folder}`),
      /writes +nothing/,
      /network +none/,
      /limits +wall 30000 ms/,
      /asked +no rule allows it/,
    ])
      expect(output).toMatch(part)
    expect(output).toContain('hello two words\r\n')
    expect(status).toBe(0)
    expect(facts().permission_decision).toMatchObject({
      decision: 'allow',
      decision_source: 'approver',
      scope: 'call',
      approval_action_id: expect.any(String) as string,
    })
    expect(types()).toEqual(expect.arrayContaining(['permission.requested', 'permission.resolved', 'tool.called']))
    expect(existsSync(userRules)).toBe(false)
    expect(cordon(['run', '--mode', 'untrusted', '--', 'echo', 'hello']).status).toBe(125)
  })

  test('"always" adds a rule for exactly this command to the rule file of the user, and the next run is not asked', () => {
    writeFileSync(userRules, '# mine\nrules:\n  - { effect: deny, command: rm, because: no } # stays\n', {
      mode: 0o600,
    })
    expect(atTerminal(asking('--', 'echo', 'a*'), [QUESTION, answer('always')]).output).toContain('a*\r\n')
    expect(readFileSync(userRules, 'utf8')).toMatch(
      /^# mine\nrules:\n {2}- \{ effect: deny, command: rm, because: no \} # stays\n {2}# written by cordon run on 20.*\n {2}- id: always-20.*\n {4}effect: allow\n {4}tool: cordon:run\n {4}arguments:\n {6}line: "echo 'a\\\\\*'"\n/,
    )
    expect(readFileSync(userRules, 'utf8')).toMatch(
      /because: ".+ approved exactly this, for always, at the prompt of cordon run on \d{4}-\d\d-\d\d"\n$/,
    )
    expect(types()).toContain('policy.changed')
    // The working directory of the terminal is this one.
    const again = (...words: readonly string[]) =>
      cordon(['run', '--mode', 'untrusted', '--', ...words], { cwd: process.cwd() })
    expect(again('echo', 'a*').stdout).toBe('a*\n')
    for (const other of [['echo', 'ab'], ['echo', 'a*', 'b'], ['echo'], ['sh', '-c', "echo 'a*'"]])
      expect(again(...other).status).toBe(125)
  })

  test('"always" that cannot be saved does not run, and the log says so', () => {
    const shut = join(folder, 'shut')
    writeFileSync(shut, '')
    const { output, status } = atTerminal(
      ['/usr/bin/env', `XDG_CONFIG_HOME=${shut}`, ...asking('--', 'echo', 'ran')],
      [QUESTION, answer('always')],
    )
    expect({ status, hasRun: output.includes('\r\nran\r\n') }).toEqual({ status: 125, hasRun: false })
    expect(types().slice(-2)).toEqual(['tool.denied', 'session.ended'])
  })

  test('"session" is remembered only for that session', () => {
    expect(
      atTerminal(asking('--session', 'work', '--', 'echo', 'x'), [
        { expect: 'session (work)' },
        QUESTION,
        answer('session'),
      ]).status,
    ).toBe(0)
    expect(facts().permission_decision).toMatchObject({ scope: 'session' })
    const again = (...words: readonly string[]) =>
      cordon(['run', '--mode', 'untrusted', ...words], { cwd: process.cwd() }).status
    expect([
      again('--session', 'work', '--', 'echo', 'x'),
      again('--session', 'work', '--', 'echo', 'y'),
      again('--session', 'play', '--', 'echo', 'x'),
      again('--', 'echo', 'x'),
    ]).toEqual([0, 125, 125, 125])
    // Forged lines, and a file that others can write to, approve nothing.
    const file = join(STATE_FOLDER, 'sessions', 'work.jsonl')
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(2)
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"expires_at":\d+/, '"expires_at":1'))
    expect(again('--session', 'work', '--', 'echo', 'x')).toBe(125)
    expect(again('--session', '../work', '--', 'echo', 'x')).toBe(125)
  })

  test('answers for always and for a session are listed, and a revoked one is asked about again', () => {
    writeFileSync(userRules, '# mine\nrules:\n  - { effect: deny, command: rm, because: no } # stays\n', {
      mode: 0o600,
    })
    const before = readFileSync(userRules, 'utf8')
    atTerminal(asking('--', 'echo', 'a*'), [QUESTION, answer('always')])
    atTerminal(asking('--session', 'work', '--', 'echo', 'x'), [QUESTION, answer('session')])
    atTerminal(asking('--session', 'work', '--', 'echo', 'y'), [QUESTION, answer('session')])
    const run = (...words: readonly string[]) =>
      cordon(['run', '--mode', 'untrusted', '--session', 'work', '--', 'echo', ...words], { cwd: process.cwd() }).status
    expect([run('a*'), run('x'), run('y')]).toEqual([0, 0, 0])

    interface Listed {
      readonly id: string
      readonly kind: string
      readonly command: string
      readonly place: string
    }
    const given = () => JSON.parse(cordon(['approvals', 'list', '--given', '--json']).stdout) as readonly Listed[]
    expect(given()).toMatchObject([
      { kind: 'always', command: "echo 'a*'", place: expect.stringContaining('rules.yaml') as string },
      { kind: 'session', command: 'echo x', place: 'work' },
      { kind: 'session', command: 'echo y', place: 'work' },
    ])
    expect(cordon(['approvals', 'list', '--given']).stdout).toMatch(/session +echo x +20.*Z +work/)

    for (const { id, command } of given().filter(({ command }) => command !== 'echo y'))
      expect(cordon(['approvals', 'revoke', id]).stdout).toBe(`revoked ${id}: ${command}\n`)
    expect(types().slice(-2)).toEqual(['policy.changed', 'policy.changed'])
    expect(readFileSync(userRules, 'utf8')).toBe(before)
    expect([run('a*'), run('x'), run('y')]).toEqual([125, 125, 0])
    expect(given().map(({ command }) => command)).toEqual(['echo y'])
  })

  test('the only rule of a file can be revoked, and a file of another form is left alone', () => {
    atTerminal(asking('--', 'echo', 'a'), [QUESTION, answer('always')])
    const [, id = ''] = /id: (always-\S+)/.exec(readFileSync(userRules, 'utf8')) ?? []
    const flow = `rules: [ { id: ${id}, effect: allow, tool: other, because: yes } ]\n`
    const written = readFileSync(userRules, 'utf8')
    writeFileSync(userRules, flow)
    expect(cordon(['approvals', 'revoke', id])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('rule-not-removed') as string,
    })
    expect(readFileSync(userRules, 'utf8')).toBe(flow)
    writeFileSync(userRules, written)
    expect(cordon(['approvals', 'revoke', id]).status).toBe(0)
    expect(readFileSync(userRules, 'utf8')).toBe('')
  })

  test('without a session there is no such choice', () => {
    const { output, status } = atTerminal(asking('--', 'echo', 'x'), [
      QUESTION,
      answer('s'),
      { expect: 'there is no session' },
      QUESTION,
      answer('r'),
      { expect: 'reason' },
      answer('not today'),
    ])
    expect(status).toBe(125)
    expect(output).toContain('approval-rejected')
    expect(facts().permission_decision).toMatchObject({
      decision: 'deny',
      decision_source: 'approver',
      decision_reason: expect.stringContaining('not today') as string,
    })
    expect(facts().result.error?.message).toContain('not today')
  })

  test('an edited command is judged again: it may be denied, and exactly the edited one runs', () => {
    writeFileSync(userRules, 'rules:\n  - { effect: deny, command: printf, because: no }\n', { mode: 0o600 })
    const edited = atTerminal(asking('--', 'echo', 'a'), [
      QUESTION,
      answer('e'),
      { expect: 'words: ' },
      { expect: 'echo a' },
      answer(" 'b  c'"),
    ])
    expect(edited.output).toContain('\r\na b  c\r\n')
    expect(facts()).toMatchObject({
      command: { argv: ['echo', 'a', 'b  c'] },
      permission_decision: {
        decision: 'allow',
        decision_source: 'approver',
        updated_input_ref: expect.stringMatching(/^sha256:/) as string,
      },
    })
    expect(cordon(['why', 'last']).stdout).toMatch(/^command +echo a 'b {2}c'$/m)
    const denied = atTerminal(asking('--', 'echo', 'a'), [
      QUESTION,
      answer('e'),
      { expect: 'echo a' },
      { send: '\u0015printf x\r' },
    ])
    expect(denied.status).toBe(125)
    expect(denied.output).toContain('rule-denied')
  })

  test('a rule that asks is shown with file and line, and "always" is not offered', () => {
    writeFileSync(userRules, 'rules:\n  - { effect: ask, command: echo, because: look at it }\n', { mode: 0o600 })
    const { output, status } = atTerminal(
      [...STARTED, 'run', '--', 'echo', 'x'],
      [{ expect: 'once, reject, edit, help? ' }, answer('a'), { expect: 'would not help' }, QUESTION, answer('o')],
    )
    expect(output).toContain(`${userRules}:2`)
    expect(output).toContain('look at it')
    expect(status).toBe(0)
  })

  test('only a clear answer runs it: not blank lines, other words or ^D', () => {
    const { output, status } = atTerminal(asking('--', 'echo', 'ran'), [
      QUESTION,
      answer(''),
      QUESTION,
      answer('yes'),
      QUESTION,
      answer('once and for all'),
      QUESTION,
      { send: CTRL_D },
    ])
    expect({ status, ran: output.includes('\nran\r\n') }).toEqual({ status: 125, ran: false })
  })

  test('^C at the question cancels it', () => {
    const { output, status } = atTerminal(asking('--', 'echo', 'ran'), [QUESTION, { send: CTRL_C }])
    expect({ status, ran: output.includes('\nran\r\n') }).toEqual({ status: -2, ran: false })
  })

  test("the question uses the terminal although the command's streams are redirected: input and output stay separate", () => {
    const out = join(folder, 'out')
    const command = asking('--', 'cat')
      .map((word) => `'${word}'`)
      .join(' ')
    const { output } = atTerminal(
      ['sh', '-c', `printf 'once\\nalways\\n' | ${command} > ${out}`],
      [QUESTION, answer('o')],
    )
    expect(readFileSync(out, 'utf8')).toBe('once\nalways\n')
    expect(output).toContain('may this run?')
  })

  test('nobody is asked if every stream is a pipe', () => {
    const command = asking('--', 'true')
      .map((word) => `'${word}'`)
      .join(' ')
    const { output } = atTerminal(
      ['sh', '-c', `${command} < /dev/null > ${join(folder, 'o')} 2> ${join(folder, 'e')}; echo status $?`],
      [{ expect: 'status 125' }],
    )
    expect(output).not.toContain('may this run')
    expect(readFileSync(join(folder, 'e'), 'utf8')).toContain('approval-unavailable')
  })
})

describe('a command with misleading text', () => {
  const hostile = [
    ...[
      '\u001b[2J\u001b[Hcordon: may this run?\r\n  | ls',
      '\r\u001b[K',
      '\u001b]0;title\u0007',
      '\u009b31m',
      '\u202egnp.exe',
      '\u200b',
      '\u2028',
      '\u{e0041}',
      '\b\b\b',
      'x\ny',
    ],
    `${' '.repeat(200)}once, always? yes`,
  ]

  test('is shown escaped, with a mark on each line', () => {
    const { output } = atTerminal(asking('--', 'true', ...hostile), [
      QUESTION,
      answer('r'),
      { expect: 'reason' },
      answer(''),
    ])
    const shown = output.slice(0, output.indexOf('program   '))
    // Colours of our own aside, no control but the ends of our lines.
    expect(shown.replaceAll(/\u001b\[\d+m/g, '')).toMatch(
      /^[^\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u2028\u202e]*$/u,
    )
    expect(
      shown
        .split('\r\n')
        .slice(1, -1)
        .every((line) => line.startsWith('  | ') && line.length <= 78),
    ).toBe(true)
    for (const part of ['\\x1b[2J', '\\u{202e}', '\\u{200b}', '\\u{e0041}', '\\x0a', '\\x9b'])
      expect(shown.replaceAll(/\r\n {2}\| /g, '')).toContain(part)
  })

  test('also in a rule or a folder name', () => {
    const place = join(folder, 'odd \u001b[31mname')
    mkdirSync(join(place, '.cordon'), { recursive: true })
    writeFileSync(
      join(place, '.cordon', 'rules.yaml'),
      'rules:\n  - { effect: ask, command: echo, because: "safe\\e[2J\\r\\nonce?" }\n',
    )
    const words = [...STARTED, 'run', '--', 'echo'].map((word) => `'${word}'`).join(' ')
    const { output } = atTerminal(
      ['sh', '-c', `cd '${place}' && exec ${words}`],
      [QUESTION, answer('r'), { expect: 'reason' }, answer('')],
    )
    expect(output.replaceAll(/\u001b\[(\d+m|\d*G|0?J)/g, '')).not.toContain('\u001b')
    expect(output).toContain('safe\\x1b[2J\\x0d\\x0aonce?')
    expect(dirname(place)).toBe(folder)
  })

  test('keys typed before the question do not answer it', () => {
    const command = asking('--', 'echo', 'ran')
      .map((word) => `'${word}'`)
      .join(' ')
    const { output, status } = atTerminal(
      ['sh', '-c', `read first; sleep 2; exec ${command}`],
      [{ send: 'go\nonce\nonce\n' }, QUESTION, answer('r'), { expect: 'reason' }, answer('')],
    )
    expect({ status, ran: output.includes('\nran\r\n') }).toEqual({ status: 125, ran: false })
  })
})
