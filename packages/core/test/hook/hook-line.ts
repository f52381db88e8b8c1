// Gives a message to a hook as its agent does, in a folder of its own.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { cordon } from '../cli/cordon.js'
import type { Ran } from '../cli/cordon.js'

/** One copy of Cordon for all tests. */
export const DATA_HOME = process.env['XDG_DATA_HOME'] ?? ''

export interface HookPlace {
  readonly root: string
  readonly workspace: string
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
  readonly hook: (agent: string, message: unknown, ...options: readonly string[]) => Ran
  readonly cordon: (...words: readonly string[]) => Ran
  /** Runs what the hook answered, by a shell as agents do. */
  readonly shell: (command: string, cwd?: string) => Ran
  readonly write: (path: string, text: string) => string
}

export const hookPlace = (): HookPlace => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-hook-')))
  const [workspace, home] = [join(root, 'project'), join(root, 'home')]
  const write = (path: string, text: string): string => {
    const whole = join(root, path)
    mkdirSync(dirname(whole), { recursive: true })
    writeFileSync(whole, text)
    return whole
  }
  write('project/inside', 'this is inside\n')
  write('home/secret', 'a secret\n')
  const environment = {
    HOME: home,
    XDG_STATE_HOME: join(home, '.local/state'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: DATA_HOME,
    CLAUDE_PROJECT_DIR: workspace,
    GEMINI_PROJECT_DIR: workspace,
  }
  return {
    root,
    workspace,
    home,
    environment,
    write,
    hook: (agent, message, ...options) =>
      cordon(['hook', agent, ...options], {
        cwd: workspace,
        environment,
        input: message instanceof Uint8Array || typeof message === 'string' ? message : JSON.stringify(message),
      }),
    cordon: (...words) => cordon(words, { cwd: workspace, environment }),
    shell: (command, cwd = workspace) => {
      const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
        cwd,
        encoding: 'utf8',
        env: { PATH: '/usr/bin:/bin', CORDON_HOST: 'off', ...environment },
      })
      return { status, stdout, stderr }
    },
  }
}

interface PreToolUse {
  readonly permissionDecision: string
  readonly permissionDecisionReason: string
  readonly updatedInput?: Readonly<Record<string, unknown>>
}

export const answerIn = ({ stdout }: Ran): PreToolUse =>
  (JSON.parse(stdout) as { readonly hookSpecificOutput: PreToolUse }).hookSpecificOutput
