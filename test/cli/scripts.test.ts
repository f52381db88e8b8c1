import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { describeForms, temporaryFolder } from '../../packages/core/test/cli/cordon.js'

const folder = temporaryFolder()

const script = (name: string, text: string, mode = 0o755): string => {
  writeFileSync(join(folder, name), text, { mode })
  return join(folder, name)
}

describeForms('a script', (run) => {
  const said = (path: string, ...options: readonly string[]) => {
    const { status, stdout, stderr } = run([...options, '--', path])
    expect(stdout).toBe('')
    return { status, lines: stderr.trimEnd().split('\n') }
  }

  test('runs by its interpreter, also one that env looks up', () => {
    expect(run(['--', script('good', '#!/bin/sh\necho ran\n')])).toMatchObject({ status: 0, stdout: 'ran\n' })
    expect(run(['--', script('good-env', '#!/usr/bin/env -S sh -e\necho ran\n')])).toMatchObject({
      status: 0,
      stdout: 'ran\n',
    })
    expect(run(['--', script('good-env-option', '#!/usr/bin/env -S -u NAME sh\necho ran\n')])).toMatchObject({
      status: 0,
      stdout: 'ran\n',
    })
  })

  test('with a missing interpreter: 127, with its name and a fix', () => {
    const path = script('missing', '#!/no/such/interpreter -x\n')
    expect(said(path)).toEqual({
      status: 127,
      lines: [
        'cordon: program-not-found: program not found: /no/such/interpreter, the interpreter in the first ' +
          `line of ${path}`,
        'fix: install it, or correct the line',
      ],
    })
  })

  test('with Windows line ends in its first line: 127, with the fix to convert it', () => {
    for (const [name, line, shown] of [
      ['crlf', '#!/bin/sh', '/bin/sh'],
      ['crlf-env', '#!/usr/bin/env bash', 'bash'],
    ] as const) {
      const path = script(name, `${line}\r\necho ran\r\n`)
      const { status, lines } = said(path)
      expect(status).toBe(127)
      expect(lines[0]).toContain(
        `${shown}\\r, the interpreter in the first line of ${path}, which ends in a carriage return (CRLF)`,
      )
      expect(lines[1]).toBe(`fix: save the script with Unix line ends: sed -i 's/\\r$//' ${path}`)
    }
  })

  test('with an interpreter that env would not find: 127, with the searched folders', () => {
    const path = script('env', '#!/usr/bin/env no-such-interpreter\n')
    const { status, lines } = said(path)
    expect(status).toBe(127)
    expect(lines[0]).toContain(`no-such-interpreter, the interpreter in the first line of ${path}`)
    expect(lines[1]).toMatch(/^fix: env looked in .*\/usr\/bin.*: install it, or correct the line$/)
  })

  test('with an interpreter that cannot be executed: 126, with its name', () => {
    const interpreter = script('not-executable', 'text', 0o644)
    const { status, lines } = said(script('by-text', `#!${interpreter}\n`))
    expect(status).toBe(126)
    expect(lines).toEqual([
      expect.stringContaining(`program not executable: ${interpreter}, the interpreter in the first line of`),
      `fix: chmod +x ${interpreter}, or correct the line`,
    ])
  })

  test('with a carved-out interpreter: 126, with the carve-out as the cause', () => {
    const interpreter = script('interpreter', '#!/bin/sh\necho ran\n')
    const path = script('taken', `#!${interpreter}\n`)
    expect(run(['--', path])).toMatchObject({ status: 0, stdout: 'ran\n' })
    const { status, lines } = said(path, '--read', folder, '--read', `!${interpreter}`)
    expect(status).toBe(126)
    expect(lines).toEqual([
      `cordon: program-not-executable: program not executable: ${interpreter}, which ${path} is run by: the ` +
        'policy carves it out',
      `fix: remove the carve-out that takes ${interpreter}`,
    ])
  })

  test('without a #! line: 126, and how to run it', () => {
    const path = script('no-line', 'echo ran\n')
    const { status, lines } = said(path)
    expect(status).toBe(126)
    expect(lines[0]).toContain('neither a program of this machine nor a script with a #! line')
    expect(lines[1]).toBe(
      `fix: run a script by its interpreter (sh ${path}), or give it a first line such as #!/bin/sh`,
    )
  })
})
