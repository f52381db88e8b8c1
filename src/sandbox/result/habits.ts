// Files that programs look for whenever they start, and do without: that one was refused is no reason for a failure.
import { basename } from 'node:path'

import type { Violation } from './violations.js'

interface Habit {
  readonly access: 'read' | 'write'
  readonly path: RegExp
  readonly because: string
}

export const HABITS: readonly Habit[] = [
  {
    access: 'read',
    path: /\/\.(?:profile|bash_profile|bash_login|bash_logout|bashrc|zshenv|zprofile|zshrc|zlogin|inputrc)$/,
    because: 'shells read the start-up files of their user',
  },
  {
    access: 'read',
    path: /\/\.(?:npmrc|yarnrc|yarnrc\.yml|curlrc|wgetrc|gemrc|condarc|perldb|pythonrc)$/,
    because: 'package managers and clients read the settings of their user',
  },
  {
    access: 'read',
    path: /\/\.config\/(?:git\/(?:ignore|attributes)|pip\/pip\.conf|wgetrc|curlrc)$/,
    because: 'the same, in the folder for settings',
  },
  {
    access: 'read',
    path: /^\/etc\/(?:ssh\/ssh_config(?:\.d)?|wgetrc|dpkg\/dpkg\.cfg(?:\.d)?|apt\/apt\.conf(?:\.d)?|inputrc|npmrc|pip\.conf)$/,
    because: 'clients read the settings of the machine',
  },
  { access: 'read', path: /^\/opt$/, because: 'clang looks for other compilers' },
  {
    access: 'write',
    path: /\/__pycache__(?:\/|$)|\.pyc(?:\.\d+)?$/,
    because: 'Python keeps what it compiled beside the source, where it can',
  },
  {
    access: 'write',
    path: /\/\.npm(?:$|\/_logs(?:\/|$)|\/_update-notifier-last-checked$)/,
    because: 'npm logs what it does, where it can',
  },
  { access: 'read', path: /\/\.npm\/_logs$/, because: 'npm removes old logs' },
]

/**
 * Whether a refusal is one of a file that programs look for by habit. One that the command names is not; and a
 * protected name is told, whoever touches it.
 */
export const isHabit = (violation: Violation, command: readonly string[]): boolean =>
  violation.kind === 'file' &&
  violation.reason.kind === 'not-granted' &&
  HABITS.some(({ access, path }) => access === violation.access && path.test(violation.path)) &&
  !command.some((word) => word.includes(basename(violation.path)))
