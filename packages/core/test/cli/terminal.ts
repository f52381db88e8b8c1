import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect } from 'vitest'

import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'

import { OWN_FOLDERS } from './own-folders.js'

const DRIVER = fileURLToPath(new URL('terminal-driver.py', import.meta.url))
// Not the one of a version manager, which needs the environment of the person who runs the tests.
const PYTHON = ['/usr/bin/python3', '/usr/local/bin/python3'].find((path) => existsSync(path)) ?? 'python3'

export type Step =
  | { readonly expect: string }
  | { readonly send: string }
  | { readonly resize: readonly [number, number] }
  | { readonly touch: string }
  | { readonly look: true }
  | { readonly raw: boolean }

interface Played {
  readonly output: string
  readonly status: number
  readonly modes: readonly { readonly canonical: boolean; readonly echo: boolean; readonly signals: boolean }[]
}

/** Runs a command at a terminal and plays the steps; fails with all that was printed when one does not come true. */
export const atTerminal = (argv: readonly string[], steps: readonly Step[]): Played => {
  // Long enough for a machine that does ten other things.
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/', TERM: 'xterm', PS1: 'shell> ', ...OWN_FOLDERS }
  const { stdout, stderr } = spawnSync(PYTHON, [DRIVER], {
    input: JSON.stringify({ argv, environment, steps, timeout: 200 }),
    encoding: 'utf8',
    timeout: ENDS_WHAT_HANGS_MS,
  })
  expect(stderr).toBe('')
  const { failed, ...played } = JSON.parse(stdout) as Played & { failed: unknown }
  expect(failed, `a step that did not come true; the terminal showed: ${played.output}`).toBeNull()
  return played
}

export const CTRL_C = '\u0003'
export const CTRL_D = '\u0004'
export const CTRL_Z = '\u001a'
export const CTRL_BACKSLASH = '\u001c'
