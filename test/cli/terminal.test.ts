import { join } from 'node:path'

import { expect, test } from 'vitest'

import { CORDON, describeForms, temporaryFolder } from './cordon.js'
import { CTRL_C, CTRL_D, CTRL_Z, atTerminal } from './terminal.js'

const SHELL = ['bash', '--norc', '--noediting', '-i']
const folder = temporaryFolder()

describeForms('at a terminal', (_, form) => {
  const run = (...words: readonly string[]) => [process.execPath, CORDON, 'run', '--form', form, ...words]
  const typed = (...words: readonly string[]) => run(...words).map((word) => `'${word}'`).join(' ')

  test('the command has a terminal of its own, of the same size and kind', () => {
    const { output, status } = atTerminal(run('--', 'sh', '-c', 'test -t 0 && test -t 1 && test -t 2 && stty size && echo $TERM; exit 3'), [])
    expect({ output, status }).toEqual({ output: '24 80\r\nxterm\r\n', status: 3 })
  })

  test('keys reach it, and its terminal echoes them once', () => {
    const { output } = atTerminal(run('--', 'sh', '-c', 'echo ready; read line; echo "got $line"'), [{ expect: 'ready' }, { quiet: 0.3 }, { send: 'hello\n' }])
    expect(output).toBe('ready\r\nhello\r\ngot hello\r\n')
  })

  test('it can switch the echo off, as for a password', () => {
    const { output } = atTerminal(run('--', 'bash', '-c', 'read -rsp "password: " p; echo; echo "${#p} characters"'), [{ expect: 'password: ' }, { quiet: 0.3 }, { send: 'hunter2\n' }])
    expect(output).toBe('password: \r\n7 characters\r\n')
  })

  test('a change of the size reaches it', () => {
    const script = 'trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.1; done'
    const { output } = atTerminal(run('--', 'bash', '-c', script), [{ expect: 'ready' }, { quiet: 0.3 }, { resize: [50, 132] }, { expect: '50 132' }])
    expect(output).toBe('ready\r\n50 132\r\n')
  })

  test('^C interrupts it', () => {
    expect(atTerminal(run('--', 'sh', '-c', 'echo ready; exec sleep 100'), [{ expect: 'ready' }, { quiet: 0.3 }, { send: CTRL_C }]).status).toBe(130)
  })

  test('the modes of the terminal are those from before when it ends, is killed, or Cordon is', () => {
    // "ready" must not stand in the line as it is typed.
    const raw = ['sh', '-c', 'stty raw -echo; echo rea""dy; exec sleep "$0"'] as const
    const ended = atTerminal(SHELL, [{ expect: 'shell> ' }, { look: true }, { send: `${typed('--', ...raw, '0')}\n` }, { expect: 'shell> ' }, { look: true }, { send: 'exit\n' }])
    expect(ended.modes[1]).toEqual(ended.modes[0])
    const limited = atTerminal(SHELL, [{ expect: 'shell> ' }, { look: true }, { send: `${typed('--timeout', '1s', '--', ...raw, '100')}\n` }, { expect: '(--timeout)' }, { expect: 'shell> ' }, { look: true }, { send: 'exit\n' }])
    expect(limited.modes[1]).toEqual(limited.modes[0])
    const killer = `(sleep 3; kill -KILL $(pgrep -f -- '^${process.execPath} .*--form ${form} -- .* 94${String(process.pid)}$')) & ${typed('--', ...raw, `94${String(process.pid)}`)}\n`
    const killed = atTerminal(SHELL, [{ expect: 'shell> ' }, { look: true }, { send: killer }, { expect: 'ready' }, { look: true }, { expect: 'Killed' }, { quiet: 0.5 }, { look: true }, { send: 'exit\n' }])
    expect(killed.modes[1]).toEqual({ canonical: false, echo: false })
    expect(killed.modes[2]).toEqual(killed.modes[0])
  })

  test('^Z stops the job, and fg continues it', () => {
    const { output } = atTerminal(SHELL, [
      { expect: 'shell> ' },
      { send: `${typed('--', 'cat')}; echo "status $?"\n` },
      { quiet: 1.5 },
      { send: 'one\n' },
      { expect: 'one\r\none\r\n' },
      { send: CTRL_Z },
      { expect: 'Stopped' },
      { expect: 'shell> ' },
      { send: 'fg\n' },
      { quiet: 0.7 },
      { send: 'two\n' },
      { expect: 'two\r\ntwo\r\n' },
      { send: CTRL_D },
      { expect: 'shell> ' },
      { send: 'exit\n' },
    ])
    expect(output).toContain('Stopped')
  })

  test('a shell inside has job control of its own', () => {
    atTerminal(run('--', 'bash', '--norc', '--noediting', '-i'), [
      { quiet: 1.5 },
      { send: 'sleep 100\n' },
      { quiet: 0.5 },
      { send: CTRL_Z },
      { expect: 'Stopped' },
      { send: 'kill %1; wait; echo "done here"; exit\n' },
      { expect: 'done here\r\n' },
      { quiet: 0.3 },
      { send: 'exit\n' },
    ])
  })

  test('in a pipeline the keys are left to the others until it asks for them', () => {
    const script = 'echo ready; sleep 1; read line < /dev/tty; echo "got $line"'
    const { output } = atTerminal(SHELL, [
      { expect: 'shell> ' },
      { send: `${typed('--', 'sh', '-c', script)} | cat\n` },
      { expect: 'ready\r\n' },
      { look: true },
      { quiet: 1.5 },
      { look: true },
      { send: 'typed\n' },
      { expect: 'got typed' },
      { expect: 'shell> ' },
      { send: 'exit\n' },
    ])
    expect(output).toContain('got typed')
  })

  test('a job in the background stops when it reads, and goes on in the foreground', () => {
    atTerminal(SHELL, [
      { expect: 'shell> ' },
      { send: `${typed('--', 'cat')} &\n` },
      { expect: 'shell> ' },
      { quiet: 2 },
      { send: '\n' },
      { expect: 'Stopped' },
      { send: 'fg\n' },
      { quiet: 0.7 },
      { send: 'late\n' },
      { expect: 'late\r\nlate\r\n' },
      { send: CTRL_D },
      { expect: 'shell> ' },
      { send: 'exit\n' },
    ])
  })

  test('a stream that is redirected stays what it is', () => {
    const file = join(folder, form)
    const { output } = atTerminal(['sh', '-c', `${typed('--', 'sh', '-c', 'test -t 1 || echo "no terminal"; echo err >&2')} > ${file}; od -An -c ${file}`], [])
    expect(output.replace(/\s+/g, ' ')).toBe('err n o t e r m i n a l \\n ')
  })

  test('the output limit holds', () => {
    const { output, status } = atTerminal(run('--output', '1K', '--', 'yes'), [])
    expect(status).toBe(137)
    expect(output).toContain('ended by its output limit of 1K')
    expect(output.split('y').length).toBeLessThan(700)
  })
})
