import { join } from 'node:path'

import { expect, test } from 'vitest'

import { STARTED, describeForms, formWords, temporaryFolder } from './cordon.js'
import { CTRL_BACKSLASH, CTRL_C, CTRL_D, CTRL_Z, atTerminal } from './terminal.js'
import type { Step } from './terminal.js'

const SHELL = ['bash', '--norc', '--noediting', '-i']
const PROMPT: Step = { expect: 'shell> ' }
/** The keys are the command's now; typed before, they would be echoed by the caller's terminal, too. */
const TAKEN: Step = { raw: true }
const folder = temporaryFolder()

describeForms('at a terminal', (_, form) => {
  const run = (...words: readonly string[]) => [...STARTED, 'run', ...formWords(form), ...words]
  const typed = (...words: readonly string[]) =>
    run(...words)
      .map((word) => `'${word}'`)
      .join(' ')

  test('the command has its own terminal, of the same size and kind', () => {
    const { output, status } = atTerminal(
      run('--', 'sh', '-c', 'test -t 0 && test -t 1 && test -t 2 && stty size && echo $TERM; exit 3'),
      [],
    )
    // Behind it Cordon itself may say, in colour, what a command that failed could have lacked.
    expect({ output: output.slice(0, 14), status }).toEqual({ output: '24 80\r\nxterm\r\n', status: 3 })
  })

  test('a failure without any refusal suggests --observe, and neither its twin that succeeds nor a script reads that', () => {
    const hint = 'to list every file that it refused: add --observe'
    const failing = ['--cwd', '/', '--', 'sh', '-c', 'exit 1'] as const
    expect(atTerminal(run(...failing), []).output).toContain(hint)
    expect(atTerminal(run('--', 'true'), []).output).toBe('')
    expect(atTerminal(['sh', '-c', `${typed(...failing)} 2>&1 | cat`], []).output).toBe('')
  })

  test('keys reach it, and its terminal echoes them once', () => {
    const { output } = atTerminal(run('--', 'sh', '-c', 'echo ready; read line; echo "got $line"'), [
      { expect: 'ready' },
      TAKEN,
      { send: 'hello\n' },
    ])
    expect(output).toBe('ready\r\nhello\r\ngot hello\r\n')
  })

  test('it can switch the echo off, as for a password', () => {
    const { output } = atTerminal(
      run('--', 'sh', '-c', 'stty -echo; echo password:; read p; echo "${#p} characters"'),
      [{ expect: 'password:' }, TAKEN, { send: 'hunter2\n' }],
    )
    expect(output).toBe('password:\r\n7 characters\r\n')
  })

  test('a new size reaches it', () => {
    const script = 'trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.1; done'
    const { output } = atTerminal(run('--', 'bash', '-c', script), [
      { expect: 'ready' },
      TAKEN,
      { resize: [50, 132] },
      { expect: '50 132' },
    ])
    expect(output).toBe('ready\r\n50 132\r\n')
  })

  test('^C interrupts it', () => {
    expect(
      atTerminal(run('--', 'cat'), [TAKEN, { send: 'line\n' }, { expect: 'line\r\nline' }, { send: CTRL_C }]).status,
    ).toBe(130)
  })

  const stubborn = 'trap "" INT QUIT; echo ready; while :; do sleep 0.1; done'

  test('a second ^C kills a command that ignores the first', () => {
    const { status, output } = atTerminal(run('--', 'sh', '-c', stubborn), [
      { expect: 'ready' },
      TAKEN,
      { send: CTRL_C },
      { expect: '^C' },
      { send: CTRL_C },
    ])
    expect({ status, output }).toEqual({ status: 137, output: 'ready\r\n^C' })
  })

  test('a program that handles the first may exit as it likes', () => {
    const script = 'trap "echo heard; exit 9" INT; echo ready; while :; do sleep 0.1; done'
    expect(
      atTerminal(run('--', 'sh', '-c', script), [{ expect: 'ready' }, TAKEN, { send: CTRL_C }, { expect: 'heard' }])
        .status,
    ).toBe(9)
  })

  // What is typed before the shell is ready again, it throws away with the line that ^C ended.
  const READY_AGAIN: Step = { expect: 'bash-' }

  test('an interactive shell survives any number of ^C, and a second ^\\ kills it', () => {
    const { status } = atTerminal(run('--', ...SHELL), [
      TAKEN,
      { send: 'echo he""re\n' },
      { expect: 'here\r\n' },
      READY_AGAIN,
      { send: CTRL_C },
      { expect: '^C' },
      READY_AGAIN,
      { send: CTRL_C },
      { expect: '^C' },
      READY_AGAIN,
      { send: 'exit 5\n' },
    ])
    expect(status).toBe(5)
    const typed: readonly Step[] = [TAKEN, { send: `${stubborn}\n` }, { expect: 'ready\r\n' }]
    expect(
      atTerminal(run('--', 'sh'), [
        ...typed,
        { send: CTRL_C },
        { expect: '^C' },
        { send: CTRL_C },
        { expect: '^C' },
        { send: CTRL_BACKSLASH },
        { expect: '^\\' },
        { send: CTRL_BACKSLASH },
      ]).status,
    ).toBe(137)
  })

  test('the modes of the terminal are restored at its end, also after a limit', () => {
    const raw = ['sh', '-c', 'stty raw -echo; exec sleep "$0"'] as const
    const ended = atTerminal(SHELL, [
      PROMPT,
      { look: true },
      { send: `${typed('--', ...raw, '0')}; echo ov""er\n` },
      { expect: 'over\r\n' },
      { look: true },
      { send: 'exit\n' },
    ])
    expect(ended.modes[1]).toEqual(ended.modes[0])
    const limited = atTerminal(SHELL, [
      PROMPT,
      { look: true },
      { send: `${typed('--timeout', '1s', '--', ...raw, '100')}; echo ov""er\n` },
      { expect: 'wall-clock limit' },
      { expect: 'over\r\n' },
      { look: true },
      { send: 'exit\n' },
    ])
    expect(limited.modes[1]).toEqual(limited.modes[0])
  })

  test('the modes of the terminal are restored if Cordon is killed', () => {
    const mark = `94${String(process.pid)}`
    const now = join(folder, `${form}-now`)
    const killer =
      `(until [ -e ${now} ]; do sleep 0.1; done; kill -KILL $(pgrep -f -- '^${STARTED[0] ?? ''} .*-- ` +
      `sleep ${mark}$')) &`
    const { modes } = atTerminal(SHELL, [
      PROMPT,
      { look: true },
      { send: `${killer} ${typed('--', 'sleep', mark)}; echo ov""er\n` },
      TAKEN,
      { look: true },
      { touch: now },
      { expect: 'Killed' },
      { raw: false },
      { look: true },
      PROMPT,
      { send: 'exit\n' },
    ])
    expect(modes[1]).toEqual({ canonical: false, echo: false, signals: false })
    expect(modes[2]).toEqual(modes[0])
  })

  test('^Z stops the job, and fg continues it', () => {
    atTerminal(SHELL, [
      PROMPT,
      { send: `${typed('--', 'cat')}\n` },
      TAKEN,
      { send: 'one\n' },
      { expect: 'one\r\none\r\n' },
      { send: CTRL_Z },
      { expect: 'Stopped' },
      PROMPT,
      { send: 'fg\n' },
      TAKEN,
      { send: 'two\n' },
      { expect: 'two\r\ntwo\r\n' },
      { send: CTRL_D },
      PROMPT,
      { send: 'exit\n' },
    ])
  })

  test('a shell inside has its own job control', () => {
    atTerminal(run('--', ...SHELL), [
      TAKEN,
      // What is typed before the shell has left its own line would be echoed by the shell as well.
      { send: 'echo sta""rted; cat\n' },
      { expect: 'started' },
      { send: 'running\n' },
      { expect: 'running\r\nrunning' },
      { send: CTRL_Z },
      { expect: 'Stopped' },
      { send: 'kill -KILL %1; echo do""ne\n' },
      { expect: 'done' },
      // Unlike `exit`, it does not mind a job that it has not yet seen end.
      { send: 'exec true\n' },
    ])
  })

  test('in a pipeline other programs get the keys until it asks for them', () => {
    const script = 'echo rea""dy; sleep 1; read line < /dev/tty; echo "got $line"'
    const { modes } = atTerminal(SHELL, [
      PROMPT,
      { look: true },
      { send: `${typed('--', 'sh', '-c', script)} | cat\n` },
      { expect: 'ready\r\n' },
      { look: true },
      TAKEN,
      { send: 'typed\n' },
      { expect: 'got typed' },
      PROMPT,
      { send: 'exit\n' },
    ])
    expect(modes[1]).toEqual(modes[0])
  })

  test('a background job stops when it reads, and continues in the foreground', () => {
    atTerminal(SHELL, [
      PROMPT,
      { send: `set -b; ${typed('--', 'cat')} &\n` },
      { expect: 'Stopped' },
      { send: 'fg\n' },
      TAKEN,
      { send: 'late\n' },
      { expect: 'late\r\nlate\r\n' },
      { send: CTRL_D },
      PROMPT,
      { send: 'exit\n' },
    ])
  })

  test('a redirected stream stays redirected', () => {
    const file = join(folder, form)
    const { output } = atTerminal(
      [
        'sh',
        '-c',
        `${typed('--', 'sh', '-c', 'test -t 1 || echo "no terminal"; echo err >&2')} > ${file}; od -An -c ${file}`,
      ],
      [],
    )
    expect(output.replace(/\s+/g, ' ')).toBe('err n o t e r m i n a l \\n ')
  })

  test('the output limit applies', () => {
    const { output, status } = atTerminal(run('--output', '1K', '--', 'yes'), [])
    expect(status).toBe(137)
    expect(output).toContain('ended by its output limit of 1K')
    expect(output.split('y').length).toBeLessThan(700)
  })
})
