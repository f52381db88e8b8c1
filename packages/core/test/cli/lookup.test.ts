import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { cordon, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()
mkdirSync(join(folder, 'bin'))
writeFileSync(join(folder, 'bin', 'closed'), '#!/bin/sh\n', { mode: 0o644 })
writeFileSync(join(folder, 'here'), '#!/bin/sh\n', { mode: 0o755 })
const PATH = `${folder}/bin:/usr/bin:/bin`

const advised = (...command: readonly string[]) => {
  const { status, stdout, stderr } = cordon(['run', '--', ...command], { cwd: folder, environment: { PATH } })
  expect(stdout).toBe('')
  return { status, fix: /\nfix: (.*)\n$/.exec(stderr)?.[1] }
}

test.each<readonly [readonly string[], number, string]>([
  [['here'], 127, 'it is not in PATH, but in the working directory; write ./here'],
  [['closed'], 126, `chmod +x ${folder}/bin/closed`],
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
