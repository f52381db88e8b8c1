// Compares the reader of command lines with bash and dash: whenever a shell runs a program, a denial of that program
// must match.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { readCommand } from '../../src/gate/index.js'
import { forbidsCommand, parseCommandPattern } from '../../src/gate/commands/command-pattern.js'

import { PROGRAM, TRICKY, mutated, seeded } from './shell-lines.js'

const LINES = 700
const RUN_ANYWAY = 30

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordon-shells-'))
  for (const name of ['bin', 'cwd', 'lines', 'ran']) mkdirSync(join(folder, name))
  // The line's number comes by its environment, so that a program in the background is counted for its own line.
  writeFileSync(join(folder, 'bin', PROGRAM), '#!/bin/sh\n: > "$RAN"\n')
  chmodSync(join(folder, 'bin', PROGRAM), 0o755)
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const isDenied = (line: string): boolean => {
  const parsed = parseCommandPattern(PROGRAM)
  if (parsed.kind === 'problem') throw new Error(parsed.problem)
  return forbidsCommand(parsed.pattern, readCommand(line))
}

/** One shell starts all lines, each in a shell of its own that is ended if it does not end. */
const DRIVER = `cd "$1/cwd"; i=0; while [ $i -lt $3 ]; do
RAN="$1/ran/$2-$i"; export RAN; line=$(cat "$1/lines/$i"; echo x); line=\${line%x}
( ulimit -t 2; exec timeout -k 1 10 "$2" -c "$line" ) </dev/null >/dev/null 2>&1; i=$((i+1)); done`

/** The lines that run the program, by shell. */
const running = (lines: readonly string[]): readonly string[] => {
  for (const [at, line] of lines.entries()) writeFileSync(join(folder, 'lines', String(at)), line)
  const shells = ['bash', 'dash'].filter((shell) => existsSync(join('/bin', shell)))
  return shells.flatMap((shell) => {
    spawnSync('/bin/sh', ['-c', DRIVER, 'sh', folder, shell, String(lines.length)], {
      stdio: 'ignore',
      env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, HOME: folder },
    })
    return lines.filter((_, at) => {
      const mark = join(folder, 'ran', `${shell}-${String(at)}`)
      const ran = existsSync(mark)
      rmSync(mark, { force: true })
      return ran
    })
  })
}

test('denies every tricky line that a shell would run, including lines that a shell does run', () => {
  const lines = TRICKY.filter((_, at) => at % Math.ceil(TRICKY.length / RUN_ANYWAY) === 0)
  const ran = running(lines)
  expect(ran.length).toBeGreaterThan(RUN_ANYWAY / 4)
  expect(TRICKY.filter((line) => !isDenied(line))).toEqual(expect.not.arrayContaining([...ran]))
})

test('no line that bash or dash runs bypasses a denial', () => {
  const random = seeded(20_26)
  const made = Array.from({ length: LINES }, () => mutated(random))
  const passed = [...new Set([...TRICKY, ...made])].filter((line) => !isDenied(line))
  // Lines that pass are the only ones that can be wrong. Were there none, nothing would be tried.
  expect(passed.length).toBeGreaterThan(20)
  expect(running(passed)).toEqual([])
})
