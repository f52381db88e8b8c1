// Builds the launcher with the address and undefined-behaviour sanitizers, and reads their reports.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface SanitizedLauncher {
  readonly path: string
  /** Everything that any process of it has reported. */
  readonly reports: () => readonly string[]
  readonly remove: () => void
}

/**
 * Cordon starts its launcher with an empty environment, so that a script has to say where reports go. What
 * goes wrong inside a cell cannot be written there and ends the process: then the call fails.
 *
 * Leaks are not looked for. A supervisor lives as long as one cell and frees nothing on its way out, and
 * looking takes ptrace, which not every place has.
 */
export const sanitizedLauncher = (): SanitizedLauncher | { readonly missing: string } => {
  const built = spawnSync(process.execPath, [join(ROOT, 'scripts', 'build-native.mjs'), '--sanitize'], {
    encoding: 'utf8',
  })
  if (built.status !== 0) return { missing: built.stderr.trim() }
  const folder = mkdtempSync('/var/tmp/cordon-sanitized-')
  const reports = join(folder, 'report')
  const path = join(folder, 'cordon-cell')
  writeFileSync(
    path,
    `#!/bin/sh\nASAN_OPTIONS=detect_leaks=0:log_path=${reports} ` +
      `UBSAN_OPTIONS=print_stacktrace=1:log_path=${reports} exec ` +
      `'${join(ROOT, 'build', 'sanitize', 'cordon-cell')}' "$@"\n`,
    { mode: 0o755 },
  )
  return {
    path,
    reports: () =>
      readdirSync(folder)
        .filter((name) => name.startsWith('report'))
        .map((name) => readFileSync(join(folder, name), 'utf8')),
    remove: () => {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
