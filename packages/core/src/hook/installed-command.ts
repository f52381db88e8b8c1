// The command that an agent's settings name. Most agents run the tool if their hook is missing, crashes or takes too
// long. So a shell stands around the hook and turns each of these into exit status 2, which blocks the tool.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { PACKAGE_FOLDER, frontsIn, quotedWord } from '../platform/index.js'

import type { Caller } from '../line/caller.js'

/** The hook itself gives up after this long. */
export const OWN_SECONDS = 20
/** `timeout` kills it after this long. It is one that only root can replace, and never one of the search path. */
const KILL_SECONDS = 25
/** The agent may kill it after this long, and would then run the tool. */
export const HOST_SECONDS = 40

/**
 * Node would load code, or believe servers, because of them, and a project can set them in the settings of its agent.
 * NODE_EXTRA_CA_CERTS stays: companies and outer cells need it.
 */
export const UNSET =
  'unset NODE_OPTIONS NODE_PATH NODE_COMPILE_CACHE NODE_TLS_REJECT_UNAUTHORIZED ' +
  'OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES'

/** Codex blocks only if stderr says why. 126 and 127: there is no program, so another installation brings one. */
const scriptWith = (again: string): string =>
  `${UNSET}; t=/usr/bin/timeout; [ -x $t ] || t=/bin/timeout; $t -s KILL ${String(KILL_SECONDS)} "$@"; s=$?; ` +
  '[ $s = 0 ] && exit 0; [ $s = 2 ] && exit 2; ' +
  'w="the hook failed (status $s)"; f="see why: cordon hook check"; [ $s = 126 ] || [ $s = 127 ] && ' +
  `{ w="the copy of Cordon that this hook starts is missing or broken ($1)"; f="${again}"; }; ` +
  'echo "cordon: $w, so this call does not run; fix: $f" >&2; exit 2'

/**
 * `again`: the command that installs it. Every agent starts it by a shell of its own choice, so the script names its
 * shell.
 */
export const installedCommand = (words: readonly string[], again: string): string =>
  ['/bin/sh', '-c', scriptWith(again), 'cordon-hook', ...words].map(quotedWord).join(' ')

/** The same with a program that the shell finds for whoever runs it: `"$HOME/cordon"`. */
export const sharedCommand = (program: string, words: readonly string[], again: string): string =>
  ['/bin/sh', '-c', `set -- ${program} "$@"; ${scriptWith(again)}`, 'cordon-hook', ...words].map(quotedWord).join(' ')

/** Whether a command of a settings file is the hook of this agent. */
export const isInstalledCommand = (command: unknown, agent: string): command is string =>
  typeof command === 'string' && command.includes(`'cordon-hook'`) && command.includes(`'hook' '${agent}'`)

/** An entry of the hooks `PreToolUse` in settings of Claude Code. `matcher` says which tools start the command. */
export interface ClaudeCodeEntry {
  matcher: string
  hooks: { type: 'command'; command: string; timeout: number; onFailure: 'block' }[]
}

/** A version before 2.1.295 ignores `onFailure`. There the command itself turns failures into a block. */
export const claudeCodeEntry = (command: string, matcher: string): ClaudeCodeEntry => ({
  matcher,
  hooks: [{ type: 'command', command, timeout: HOST_SECONDS, onFailure: 'block' }],
})

const SCRIPT = join(PACKAGE_FOLDER, 'bin', 'cordon.js')

/** These words, without the variables that steer Node. For any shell. */
export const withoutSteering = (words: readonly string[]): readonly string[] => [
  ...['/bin/sh', '-c', `${UNSET}; exec "$@"`, 'cordon'],
  ...words,
]

/** The words that start the command line of this very Cordon. The search path may have another one, or none. */
export const ownProgram = (): readonly string[] => {
  const front = frontsIn(PACKAGE_FOLDER).find(({ program, node }) => existsSync(program) && existsSync(node))
  return front === undefined ? [process.execPath, SCRIPT] : [front.program]
}

/** The words that start the command line again as this process was started. */
export const startedWords = ({
  startedAs = 'cordon',
  isFronted,
}: Pick<Caller, 'startedAs' | 'isFronted'>): readonly string[] =>
  isFronted ? [startedAs] : [process.execPath, startedAs]

/** Agents write for bash. */
const SHELL = ['/bin/bash', '/usr/bin/bash'].find((path) => existsSync(path)) ?? '/bin/sh'

/** Behind `--`, because a command that begins with a dash would be options of the shell. */
export const commandWords = (command: string): readonly string[] => [SHELL, '-c', '--', command]
