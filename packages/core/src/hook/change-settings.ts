// Changes the hook in the settings of an agent. Every change keeps a backup of the file.
import { existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'

import { codeOf, fail, reasonOf } from '../errors/index.js'
import { shellWord } from '../platform/index.js'

import { usage } from '../line/arguments.js'
import type { Arguments, Environment } from '../line/arguments.js'
import type { CommandLine } from '../line/caller.js'
import { STDOUT, writeText } from '../line/text/console-text.js'
import { backupBeside, copyNew, writeSettingsFile } from '../settings/settings-file.js'
import { SCOPES } from './agent.js'
import type { Agent, HookChange, Scope } from './agent.js'
import { startedWords } from './installed-command.js'
import { readSettings, settingsPath } from './settings-place.js'

const COMMAND = 'cordon hook'

export const scopeOf = ({ switches }: Arguments): Scope => {
  const given = SCOPES.filter((scope) => switches.has(scope))
  if (given.length > 1)
    throw usage(`${given.map((scope) => `--${scope}`).join(' and ')} cannot stand together`, COMMAND, 'choose one')
  return given[0] ?? 'project'
}

/** Throws if this user cannot write the settings of all users. `words`: the command, for the line with sudo. */
export const placeOf = (agent: Agent, scope: Scope, words: readonly string[], line: CommandLine): string => {
  const { given, environment } = line
  const path = pathOf(agent, scope, environment)
  if (scope === 'managed' && !given.switches.has('print') && process.geteuid?.() !== 0)
    throw fail('hook-needs-root', {
      path,
      command: ['sudo', ...startedWords(line), 'hook', ...words].map(shellWord).join(' '),
    })
  return path
}

const pathOf = (agent: Agent, scope: Scope, environment: Environment): string => {
  const path = settingsPath(agent, scope, environment)
  if (path === undefined)
    throw usage(`Cordon knows no settings of ${agent.title} for all users of this machine`, COMMAND, 'use --user')
  return path
}

export interface ChangedHook {
  /** The command of the hook that was there before. */
  readonly replaced: string | undefined
  readonly isChanged: boolean
}

/** Returns undefined if the change was only shown. */
export const changeSettings = (
  agent: Agent,
  path: string,
  given: Arguments,
  wanted: HookChange,
): ChangedHook | undefined => {
  const before = readSettings(path)
  const after = agent.settings.edit(before, path, wanted)
  if (given.switches.has('print')) {
    writeText(STDOUT, after)
    return undefined
  }
  const replaced = agent.settings.find(before, path)
  const isChanged = after !== before && !(isEmpty(before) && isEmpty(after))
  if (isChanged) write(path, before, after, wanted.scope, replaced === undefined ? 'backup' : 'no-backup')
  return { replaced, isChanged }
}

const isEmpty = (text: string): boolean => ['', '{}'].includes(text.replaceAll(/\s/g, ''))

/** `backup`: of the file without the hook. */
const write = (path: string, before: string, after: string, scope: Scope, keep: 'backup' | 'no-backup'): void => {
  try {
    writeSettingsFile(path, {
      before,
      // The hook was alone in it.
      after: isEmpty(after) ? '' : after,
      project: scope === 'project' ? process.cwd() : undefined,
      backUp: (real) => {
        if (keep === 'no-backup') return
        rmSync(backupBeside(real), { force: true })
        copyNew(real, backupBeside(real))
      },
      // Every user reads the settings of the machine, whatever the umask of root is.
      mode: scope === 'managed' && !existsSync(path) ? 0o644 : { ofNew: 0o600 },
    })
  } catch (cause) {
    throw fail('hook-settings-unwritable', { path, problem: reasonOf(cause), fix: fixOf(path, cause) }, cause)
  }
}

const fixOf = (path: string, cause: unknown): string => {
  const blocking = nearest(path)
  switch (codeOf(cause)) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `${blocking} must be a folder: move that file away`
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `make ${blocking} writable for this user: ls -ld ${shellWord(blocking)} shows its owner`
    default:
      return `look at it: ls -ld ${shellWord(blocking)}`
  }
}

/** The file, or the folder above it that exists. */
const nearest = (path: string): string => (path === dirname(path) || existsSync(path) ? path : nearest(dirname(path)))
