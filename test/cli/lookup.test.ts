import { mkdirSync, writeFileSync } from 'node:fs'
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
  [['ls -la'], 127, "it is all one word: write the words apart (cordon run -- ls -la), or have a shell read them (sh -c 'ls -la')"],
  [['ls | wc'], 127, "that is a line for a shell, and no shell reads it: cordon run -- sh -c 'ls | wc'"],
  [['cd /tmp && ls'], 127, "that is a line for a shell, and no shell reads it: cordon run -- sh -c 'cd /tmp && ls'"],
  [['./here now'], 127, "it is all one word: write the words apart (cordon run -- ./here now), or have a shell read them (sh -c './here now')"],
  [['NAME=value', 'ls', '-l'], 127, 'a variable is given with an option: cordon run --env NAME=value -- ls -l'],
  [['cd', '/tmp'], 127, "cd is a word of the shell, not a program: sh -c 'cd /tmp'"],
  [['--read', 'x'], 127, 'options of cordon stand before --, the command behind it'],
  [['here'], 127, 'it is not in PATH, but here: name it with its folder, ./here'],
  [['closed'], 126, `chmod +x ${folder}/bin/closed`],
  [['frobnicat'], 127, `did you mean frobnicate? Looked in ${PATH}`],
  [['no-such-program'], 127, `install it, or give its path; looked in ${PATH}`],
])('%j: %i, and %s', (command, status, fix) => {
  expect(advised(...command)).toEqual({ status, fix })
})
