// Commands of agents as words and as text for a shell.
import { existsSync } from 'node:fs'

/** A word that every shell takes as it is. `asWord` leaves some words bare that a shell other than sh would expand. */
export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** Agents write for bash. */
const SHELL = ['/bin/bash', '/usr/bin/bash'].find((path) => existsSync(path)) ?? '/bin/sh'

/** Behind `--`, because a command that begins with a dash would be options of the shell. */
export const commandWords = (command: string): readonly string[] => [SHELL, '-c', '--', command]
