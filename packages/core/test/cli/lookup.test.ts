import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { cordon, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()
mkdirSync(join(folder, 'bin'))
writeFileSync(join(folder, 'bin', 'closed'), '#!/bin/sh\n', { mode: 0o644 })
writeFileSync(join(folder, 'here'), '#!/bin/sh\n', { mode: 0o755 })
writeFileSync(join(folder, 'bin', 'frobnicate'), '#!/bin/sh\n', { mode: 0o755 })
const PATH = `${folder}/bin:/usr/bin:/bin`

const advised = (...command: readonly string[]) => {
  const { status, stdout, stderr } = cordon(['run', '--', ...command], { cwd: folder, environment: { PATH } })
  expect(stdout).toBe('')
  return { status, fix: /\nfix: (.*)\n$/.exec(stderr)?.[1] }
}

test.each<readonly [readonly string[], number, string]>([
  [['ls -la'], 127, "this is one word: write separate words (cordon run -- ls -la), or use a shell (sh -c 'ls -la')"],
  [['ls | wc'], 127, "this is a shell command line, and no shell reads it; use: cordon run -- sh -c 'ls | wc'"],
  [
    ['cd /tmp && ls'],
    127,
    "this is a shell command line, and no shell reads it; use: cordon run -- sh -c 'cd /tmp && ls'",
  ],
  [
    ['./here now'],
    127,
    "this is one word: write separate words (cordon run -- ./here now), or use a shell (sh -c './here now')",
  ],
  [['NAME=value', 'ls', '-l'], 127, 'set a variable with an option: cordon run --env NAME=value -- ls -l'],
  [['cd', '/tmp'], 127, "cd is a shell keyword, not a program; use: sh -c 'cd /tmp'"],
  [['--read', 'x'], 127, 'put options of cordon before --, and the command after it'],
  [['here'], 127, 'it is not in PATH, but in this folder; write ./here'],
  [['closed'], 126, `chmod +x ${folder}/bin/closed`],
  [['frobnicat'], 127, `did you mean frobnicate? Looked in ${PATH}`],
  [['no-such-program'], 127, `install it, or give its path; looked in ${PATH}`],
])('%j: %i, and %s', (command, status, fix) => {
  expect(advised(...command)).toEqual({ status, fix })
})

test('an entry of PATH that cannot be opened is passed over', () => {
  const circle = join(folder, 'circle')
  symlinkSync(circle, circle)
  const run = (program: string) =>
    cordon(['run', '--', program], { cwd: folder, environment: { PATH: `${circle}:${PATH}` } })
  const missing = run('no-such-program')
  expect(missing.status).toBe(127)
  expect(missing.stderr).toContain('program-not-found: ')
  expect(run('true')).toMatchObject({ status: 0, stderr: '' })
})
