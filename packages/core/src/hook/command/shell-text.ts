// Commands of agents as words for the shell that agents write for.
import { existsSync } from 'node:fs'

/** Agents write for bash. */
const SHELL = ['/bin/bash', '/usr/bin/bash'].find((path) => existsSync(path)) ?? '/bin/sh'

/** Behind `--`, because a command that begins with a dash would be options of the shell. */
export const commandWords = (command: string): readonly string[] => [SHELL, '-c', '--', command]
