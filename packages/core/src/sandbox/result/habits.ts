// Files that programs look for at every start and do without. A refusal of one is no reason for a failure.
import { basename } from 'node:path'

import type { Violation } from './violations.js'

const HABITS: Readonly<Record<'read' | 'write', readonly RegExp[]>> = {
  read: [
    // Start-up files of shells.
    /\/\.(?:profile|bash_profile|bash_login|bash_logout|bashrc|zshenv|zprofile|zshrc|zlogin|inputrc)$/,
    // Settings of package managers and clients: the user's, then the machine's.
    /\/\.(?:npmrc|yarnrc|yarnrc\.yml|curlrc|wgetrc|gemrc|condarc|perldb|pythonrc)$/,
    /\/\.config\/(?:git\/(?:ignore|attributes)|pip\/pip\.conf|wgetrc|curlrc)$/,
    /^\/etc\/(?:ssh\/ssh_config(?:\.d)?|wgetrc|dpkg\/dpkg\.cfg(?:\.d)?|apt\/apt\.conf(?:\.d)?|inputrc|npmrc|pip\.conf)$/,
    // clang looks for other compilers, npm for old logs.
    /^\/opt$/,
    /\/\.npm\/_logs$/,
  ],
  write: [
    // Python keeps compiled files beside the source, and npm its logs.
    /\/__pycache__(?:\/|$)|\.pyc(?:\.\d+)?$/,
    /\/\.npm(?:$|\/_logs(?:\/|$)|\/_update-notifier-last-checked$)/,
  ],
}

/**
 * Whether a program only looks for the refused file by habit. Not if the command names the file. A protected name is
 * always reported.
 */
export const isHabit = (violation: Violation, command: readonly string[]): boolean =>
  violation.kind === 'file' &&
  violation.reason.kind === 'not-granted' &&
  HABITS[violation.access].some((pattern) => pattern.test(violation.path)) &&
  !command.some((word) => word.includes(basename(violation.path)))
