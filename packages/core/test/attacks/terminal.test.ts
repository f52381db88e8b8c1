import { execFileSync } from 'node:child_process'
import { existsSync, openSync, closeSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'
import type { TestContext } from 'vitest'

import { needs } from '../../../../test/requirement.js'

import { describeForms, expectHeld, programs } from './harness.js'
import type { Form } from './harness.js'
import { expectRefused, parseRoutes } from './outcomes.js'
import { playground, snapshot } from './playground.js'

const CORDON = fileURLToPath(new URL('../../bin/cordon.js', import.meta.url))
const MAIN = new URL('../../dist/bundle/main.cjs', import.meta.url)

/** The words of `cordon run` in one form, with the attack programs readable. */
const cordonRun = (
  context: TestContext,
  form: Form,
  command: readonly string[],
  options: readonly string[] = [],
): readonly [string, ...string[]] => {
  needs(context, existsSync(MAIN), 'the command line is not built')
  return [process.execPath, CORDON, 'run', '--form', form, '--read', programs.folder, ...options, '--', ...command]
}

describeForms("the caller's terminal", (cell) => {
  test('cannot be typed into by a call without one', async () => {
    expectHeld(await cell.attack('terminal', []))
  })

  test('cannot be typed into if it is passed through', (context) => {
    const [host] = programs.command('terminal-host')
    const output = execFileSync(host, cordonRun(context, cell.form, programs.command('terminal')), { encoding: 'utf8' })
    const { typed } = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '{}') as { typed: number }
    expectRefused(parseRoutes(output.replaceAll('\r', '')))
    expect(typed).toBe(0)
  })

  test('can be written to, and is a terminal', (context) => {
    const [host] = programs.command('terminal-host')
    const output = execFileSync(
      host,
      cordonRun(context, cell.form, ['/bin/sh', '-c', 'test -t 0 && test -t 1 && echo a-terminal']),
      { encoding: 'utf8' },
    )
    expect(output).toContain('a-terminal')
    expect(output).toContain('"status":0')
  })
})

describeForms("the caller's standard streams", (cell) => {
  test('do not let the tool change the input file', (context) => {
    const { file, outside } = playground()
    const input = file('outside/input', 'input\n')
    file('outside/beside')
    const before = snapshot(outside)
    const [program, ...args] = cordonRun(context, cell.form, [...programs.command('stdio'), '0'])
    const descriptor = openSync(input, 'r')
    const output = execFileSync(program, args, { stdio: [descriptor, 'pipe', 'inherit'], encoding: 'utf8' })
    closeSync(descriptor)
    expectRefused(parseRoutes(output), PIPES)
    expect(output).not.toContain('SECRET')
    expect(snapshot(outside)).toEqual(before)
  })

  test('let the tool only append to the file of the error stream', (context) => {
    const { file } = playground()
    const log = file('outside/log', 'earlier\n')
    const before = snapshot(log)[0]?.replace(/mtime.*/, '')
    const [program, ...args] = cordonRun(context, cell.form, [
      '/bin/sh',
      '-c',
      `'${programs.command('stdio')[0]}' 2 >/dev/null; echo own >&2`,
    ])
    const descriptor = openSync(log, 'a')
    execFileSync(program, args, { stdio: ['ignore', 'ignore', descriptor] })
    closeSync(descriptor)
    expect(readFileSync(log, 'utf8')).toMatch(/^earlier\n/)
    expect(readFileSync(log, 'utf8')).toMatch(/own\n$/)
    expect(snapshot(log)[0]?.replace(/mtime.*/, '')).toBe(before)
  })

  test('let the tool read the input', (context) => {
    const { file } = playground()
    const [program, ...args] = cordonRun(context, cell.form, ['/bin/cat'])
    const descriptor = openSync(file('outside/input', 'input\n'), 'r')
    expect(execFileSync(program, args, { stdio: [descriptor, 'pipe', 'inherit'], encoding: 'utf8' })).toBe('input\n')
    closeSync(descriptor)
  })
})

// Where the tool's own end is a pipe, its mode and times are those of the pipe, which nobody else has.
const PIPES = {
  'fchmod': 'of its own pipe; the file is compared below',
  'chmod': 'the same',
  'fchown': 'the same',
  'futimens': 'the same',
  'fsetxattr': 'the same',
  'reopen-wronly': 'writes into its own pipe',
  'reopen-rdwr': 'the same',
  'dev-fd': 'the same',
  'write': 'the same',
  'reopen-trunc': 'the same',
}
